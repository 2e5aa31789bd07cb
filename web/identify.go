package web

import (
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
)

// identify asks who a request comes from; the words of an access hook go to the log
// only, and each refusal is logged once.
func (d *Dashboard) identify(c *fiber.Ctx) (person, error) {
	who, err := d.o.Access.identify(c)
	var status *fiber.Error
	var many tooManyLogins
	switch {
	case err == nil:
		return who, nil
	case errors.As(err, &many):
		d.refused.note(c, err.Error())
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(many.wait.Seconds()))))
		return person{}, refuse(fiber.StatusTooManyRequests,
			"Too many wrong passwords came from your address. Try again in %s.", many.wait.Round(time.Second)+time.Second)
	case errors.Is(err, errBadLogin):
		d.refused.note(c, err.Error())
		return person{}, refuse(fiber.StatusUnauthorized, "Sign in to see this page.")
	case errors.Is(err, errNoLogin), errors.As(err, &status) && status.Code == fiber.StatusUnauthorized:
		return person{}, refuse(fiber.StatusUnauthorized, "Sign in to see this page.")
	}
	d.refused.note(c, err.Error())
	return person{}, refuse(fiber.StatusForbidden, "You may not see this page.")
}

// notAllowed says which role an action needs.
func notAllowed(has Role, a action) refusal {
	if has == Viewer {
		return refuse(fiber.StatusForbidden, `Your role "viewer" may look, but not change anything.`)
	}
	for r := has + 1; r <= Admin; r++ {
		if can(r, a) {
			return refuse(fiber.StatusForbidden, "Your role %q does not allow this; it takes the role %q.", has, r)
		}
	}
	return refuse(fiber.StatusForbidden, "Nobody may do this.")
}

// errReadOnly is said for every action while the database takes no writes.
var errReadOnly = refuse(fiber.StatusServiceUnavailable,
	"The database takes no writes now: it is a replica, or just being replaced. Nothing was changed. Open the dashboard of the primary, or try again in a moment.")

func (d *Dashboard) readOnly() bool { return d.o.ReadOnly != nil && d.o.ReadOnly() }
