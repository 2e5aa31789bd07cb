package web

import (
	"log/slog"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
)

const (
	refusedAgain = 10 * time.Minute
	maxRefused   = 1024
)

// refusals logs each kind of refusal once per address in ten minutes, so that a
// stranger can neither hide in a full log nor fill it.
type refusals struct {
	log  *slog.Logger
	mu   sync.Mutex
	seen map[string]time.Time
	full bool
}

func newRefusals(log *slog.Logger) *refusals {
	return &refusals{log: log, seen: map[string]time.Time{}}
}

// note logs a refusal. Neither headers nor bodies are logged: passwords are in them.
func (r *refusals) note(c *fiber.Ctx, why string) {
	from, path := peerAddr(c).String(), shorten(string(c.Request().URI().PathOriginal()))
	if r.first(why+" "+from, time.Now()) {
		r.log.Warn("dashboard: refused", "why", why, "address", from, "method", keep(c.Method()), "path", path,
			"more", "the same from this address is not logged again for "+refusedAgain.String())
	}
}

func (r *refusals) first(key string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, ok := r.seen[key]; ok && now.Sub(at) < refusedAgain {
		return false
	}
	if len(r.seen) >= maxRefused {
		for k, at := range r.seen {
			if now.Sub(at) >= refusedAgain {
				delete(r.seen, k)
			}
		}
	}
	if len(r.seen) >= maxRefused {
		if !r.full {
			r.log.Warn("dashboard: refused too many to log each")
		}
		r.full = true
		return false
	}
	r.seen[key], r.full = now, false
	return true
}
