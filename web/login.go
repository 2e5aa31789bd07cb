package web

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/crypto/bcrypt"
)

var (
	// errNoLogin asks the browser for a user and password.
	errNoLogin = errors.New("no user and password")
	// errBadLogin does the same, and is logged.
	errBadLogin = errors.New("wrong user or password")
)

// tooManyLogins: the address has given too many wrong passwords.
type tooManyLogins struct{ wait time.Duration }

func (e tooManyLogins) Error() string { return "too many wrong passwords" }

// Basic asks for a user and password (name to password) and makes everybody admin.
// Use it behind TLS: the password travels with every request. An address that gives
// 10 wrong passwords may try once in 30 seconds from then on.
func Basic(users map[string]string) Access {
	all := map[string]account{}
	for name, password := range users {
		all[name] = account{role: Admin, sum: sha256.Sum256([]byte(password))}
	}
	return Access{basic: true, identify: newLogin(all, nil).identify}
}

// BasicUsers is Basic with bcrypt hashes and a role for each user. Behind a proxy name
// it in trusted: wrong passwords are then counted by the address that it says in
// X-Forwarded-For, and otherwise by its own, which is everybody's.
func BasicUsers(users []User, trusted ...netip.Prefix) (Access, error) {
	all := map[string]account{}
	for _, u := range users {
		if err := u.check(); err != nil {
			return Access{}, fmt.Errorf("web: users: %w", err)
		}
		if _, twice := all[u.Name]; twice || u.Role < Viewer || u.Role > Admin {
			return Access{}, fmt.Errorf("web: users: user %q stands there twice or has no role", u.Name)
		}
		all[u.Name] = account{role: u.Role, hash: []byte(u.Hash)}
	}
	if len(all) == 0 {
		return Access{}, errors.New("web: users: there is none")
	}
	return Access{basic: true, proxied: len(trusted) > 0, identify: newLogin(all, trusted).identify}, nil
}

// account is a user; without a hash, sum is that of the password.
type account struct {
	role Role
	hash []byte
	sum  [sha256.Size]byte
}

// login checks passwords. bcrypt is slow on purpose and browsers send the password
// with each request, so the one that was right last is remembered, as a keyed sum.
type login struct {
	accounts map[string]account
	trusted  []netip.Prefix
	limit    *loginLimit
	key      []byte
	slots    chan struct{} // bounds what guessing costs the processor
	nobody   account       // compared for unknown names, so that they take as long

	mu    sync.Mutex
	right map[string][sha256.Size]byte
}

func newLogin(all map[string]account, trusted []netip.Prefix) *login {
	l := &login{accounts: all, trusted: trusted, limit: newLoginLimit(), key: make([]byte, 32),
		slots: make(chan struct{}, 2), right: map[string][sha256.Size]byte{}}
	rand.Read(l.key)
	for _, a := range all {
		l.nobody = account{hash: a.hash}
	}
	return l
}

func (l *login) identify(c *fiber.Ctx) (person, error) {
	headers := c.Request().Header.PeekAll(fiber.HeaderAuthorization)
	if len(headers) == 0 {
		return person{}, errNoLogin
	}
	name, password, ok := basicCredentials(string(headers[0]))
	ok = ok && len(headers) == 1
	a, known := l.accounts[name]
	sum := l.sum(name, password)
	if ok && known && l.remembers(name, sum) {
		return person{Name: name, Role: a.role}, nil
	}
	from, now := clientAddr(c, l.trusted), time.Now()
	if wait := l.limit.take(from, now); wait > 0 {
		return person{}, tooManyLogins{wait}
	}
	if !ok || !l.matches(a, known, password) {
		return person{}, errBadLogin
	}
	l.limit.giveBack(from, now)
	l.mu.Lock()
	l.right[name] = sum
	l.mu.Unlock()
	return person{Name: name, Role: a.role}, nil
}

func (l *login) matches(a account, known bool, password string) bool {
	if !known {
		a = l.nobody
	}
	l.slots <- struct{}{}
	defer func() { <-l.slots }()
	if a.hash != nil {
		return bcrypt.CompareHashAndPassword(a.hash, []byte(password)) == nil && known && len(password) <= maxPassword
	}
	got := sha256.Sum256([]byte(password))
	return subtle.ConstantTimeCompare(got[:], a.sum[:]) == 1 && known
}

func (l *login) remembers(name string, sum [sha256.Size]byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	was, ok := l.right[name]
	return ok && subtle.ConstantTimeCompare(was[:], sum[:]) == 1
}

func (l *login) sum(name, password string) (s [sha256.Size]byte) {
	h := hmac.New(sha256.New, l.key)
	fmt.Fprintf(h, "%d:%s%s", len(name), name, password)
	copy(s[:], h.Sum(nil))
	return s
}

func basicCredentials(header string) (name, password string, ok bool) {
	scheme, rest, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "basic") {
		return "", "", false
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(rest))
	if err != nil {
		return "", "", false
	}
	return strings.Cut(string(raw), ":")
}
