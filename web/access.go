package web

import (
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// Role is what a person may do. The zero Role may do nothing at all.
type Role int

// The roles, each with everything the one before may do.
const (
	Viewer   Role = iota + 1 // sees everything, changes nothing
	Operator                 // requeues, deletes, restores, pauses, enqueues, decides on claims
	Admin                    // purges claims
)

func (r Role) String() string {
	return map[Role]string{Viewer: "viewer", Operator: "operator", Admin: "admin"}[r]
}

// Access says who a request comes from. Build one with None, Basic,
// BasicUsers, ProxyHeader or Authorize.
type Access struct {
	identify func(*fiber.Ctx) (person, error)
	loopback bool
	basic    bool
	proxied  bool // a proxy in front is named, which can add TLS
}

// person is who acts. Name is what history rows and the audit name as the actor.
type person struct {
	Name string
	Role Role
}

// None asks for no login and therefore serves this machine only: the listener, the
// peer and the Host must be loopback. Requests with forwarding headers are refused,
// because behind a proxy on this machine everybody would look local; a foreign Host
// is refused, because a web page can point its own name at 127.0.0.1.
func None() Access {
	return Access{loopback: true, identify: func(*fiber.Ctx) (person, error) {
		return person{Name: "local", Role: Admin}, nil
	}}
}

// Authorize asks the hook for the user and role of each request; an error refuses
// the request (fiber.ErrUnauthorized: 401, else 403) and is logged, never shown.
// An open live socket asks again once a minute with the headers and cookies of its
// handshake, but without c.Locals: a hook that needs Locals from an earlier
// middleware makes the page reconnect each minute, which runs that middleware again.
func Authorize(hook func(*fiber.Ctx) (user string, role Role, err error)) Access {
	if hook == nil {
		return Access{}
	}
	return Access{identify: func(c *fiber.Ctx) (person, error) {
		user, role, err := hook(c)
		if err != nil {
			return person{}, err
		}
		if role < Viewer || role > Admin {
			return person{}, fmt.Errorf("user %q has no role", user)
		}
		return person{Name: strings.Clone(user), Role: role}, nil
	}}
}

// action is something a person does; the zero Action is looking.
type action int

const (
	see action = iota
	changeTheme
	requeue
	remove
	restore
	pauseQueue
	enqueue
	confirm
	runRecurring
	pauseRecurring
	editRecurring
	removeRecurring
	turnSwitches
	decideClaim
	purgeClaims
	muteFailures
)

// can is the one place that says which role may do what. An action that is not
// listed is refused to everybody.
func can(r Role, a action) bool {
	switch a {
	case see, changeTheme:
		return r >= Viewer
	case requeue, remove, restore, pauseQueue, enqueue, confirm:
		return r >= Operator
	case runRecurring, pauseRecurring, editRecurring, removeRecurring, turnSwitches:
		return r >= Operator
	case decideClaim, muteFailures:
		return r >= Operator
	case purgeClaims: // a forgotten key is a new effect, months later
		return r >= Admin
	}
	return false
}
