package web

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/bcrypt"
)

// User may sign in with a password.
type User struct {
	Name string
	Hash string // bcrypt, as HashPassword makes it
	Role Role
}

// Limits of a password in bytes; bcrypt looks at no more than the upper one.
const (
	minPassword = 8
	maxPassword = 72
)

// HashPassword makes the bcrypt hash of a password of 8 to 72 bytes.
func HashPassword(password string) (string, error) {
	if len(password) < minPassword || len(password) > maxPassword {
		return "", fmt.Errorf("password: has %d bytes, must have %d to %d", len(password), minPassword, maxPassword)
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost)
	return string(hash), err
}

// ParseRole reads viewer, operator or admin.
func ParseRole(text string) (Role, error) {
	for _, r := range []Role{Viewer, Operator, Admin} {
		if r.String() == text {
			return r, nil
		}
	}
	return 0, fmt.Errorf("role %q: must be viewer, operator or admin", text)
}

// ParseUsers reads lines of the form NAME:HASH:ROLE; empty ones and those that begin
// with # are passed over. Errors name the line and never repeat a hash.
func ParseUsers(text string) (all []User, err error) {
	seen := map[string]bool{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		u, err := parseUser(line)
		if err == nil && seen[u.Name] {
			err = fmt.Errorf("user %q stands there twice", u.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		seen[u.Name] = true
		all = append(all, u)
	}
	if len(all) == 0 {
		return nil, errors.New("there is no user in it")
	}
	return all, nil
}

func parseUser(line string) (u User, err error) {
	name, rest, ok1 := strings.Cut(line, ":")
	hash, role, ok2 := strings.Cut(rest, ":")
	if !ok1 || !ok2 {
		return u, errors.New("must be NAME:HASH:ROLE, with viewer, operator or admin as ROLE")
	}
	u = User{Name: name, Hash: hash}
	if u.Role, err = ParseRole(role); err != nil {
		return u, err
	}
	return u, u.check()
}

func (u User) check() error {
	if err := checkName(u.Name); err != nil {
		return err
	}
	if _, err := bcrypt.Cost([]byte(u.Hash)); err != nil {
		return fmt.Errorf("user %q: the hash is no bcrypt hash", u.Name)
	}
	return nil
}

// maxName bounds the name of a person, which goes to history and audit.
const maxName = 200

func checkName(name string) error {
	switch {
	case name == "" || len(name) > maxName:
		return fmt.Errorf("name: has %d bytes, must have 1 to %d", len(name), maxName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("name: must be UTF-8 without control characters")
	}
	return nil
}
