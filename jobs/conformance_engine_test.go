package jobs

import (
	"context"
	"errors"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tekrar/tekrar/store"
)

// Row 59: what watches running attempts asks for those of its own server, not for
// ones that have just begun, and ends none twice or in another's name.
func TestConformanceWatcher(t *testing.T) {
	t.Parallel()
	t.Run("59 only this server's, not the young, each once", func(t *testing.T) {
		h := newHeld(4)
		add := func(id, server int64, since time.Duration) *attempt {
			a := &attempt{Claimed: store.Claimed{ID: id, Attempt: 2, Queue: "q"}, server: server, since: time.Now().Add(-since)}
			h.add(a, false)
			return a
		}
		old, young, foreign := add(1, 7, time.Hour), add(2, 7, 0), add(3, 8, time.Hour)
		if diff := cmp.Diff([]store.Token{{ID: 1, Attempt: 2}}, h.tokens(7, time.Minute)); diff != "" {
			t.Error(diff)
		}
		contexts := map[*attempt]context.Context{}
		for _, a := range []*attempt{old, young, foreign} {
			ctx, cancel := context.WithCancelCause(t.Context())
			if !h.start(a, cancel) {
				t.Fatal("not started")
			}
			contexts[a] = ctx
		}
		h.cancelTaken([]store.Token{{ID: 1, Attempt: 2}, {ID: 2, Attempt: 1}, {ID: 99, Attempt: 2}}, ErrLeaseLost)
		h.cancelTaken([]store.Token{{ID: 1, Attempt: 2}}, ErrDeleted)
		if cause := context.Cause(contexts[old]); cause != ErrLeaseLost {
			t.Errorf("the first cause does not stay: %v", cause)
		}
		for _, a := range []*attempt{young, foreign} {
			if contexts[a].Err() != nil {
				t.Errorf("attempt of job %d was ended: %v", a.ID, context.Cause(contexts[a]))
			}
		}
		h.drop(old)
		h.cancelTaken([]store.Token{{ID: 1, Attempt: 2}}, ErrDeleted) // it has ended: nothing to do
	})
}

// Row 100: the defaults of a server and what it refuses. Hangfire's are 15 s for a
// shutdown, 5 min for a lost server; here 25 s and a lease of 30 s.
func TestConformanceServerDefaults(t *testing.T) {
	t.Parallel()
	t.Run("100 defaults", func(t *testing.T) {
		c, err := Config{Name: "n"}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]any{
			"workers": c.Workers, "drain": c.DrainTimeout, "lease": c.Lease, "heartbeat": c.Heartbeat, "sweep": c.Sweep,
			"grace": c.StopGrace, "losses": c.LossLimit, "succeeded": c.Retention.Succeeded, "deleted": c.Retention.Deleted, "args": c.MaxArgs,
		}
		want := map[string]any{
			"workers": min(5*runtime.NumCPU(), 20), "drain": 25 * time.Second, "lease": 30 * time.Second, "heartbeat": 10 * time.Second, "sweep": 5 * time.Second,
			"grace": 5 * time.Second, "losses": 3, "succeeded": 24 * time.Hour, "deleted": 168 * time.Hour, "args": 1 << 20,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("100 what cannot work is refused, a shutdown may take for ever", func(t *testing.T) {
		const day = 24*time.Hour + 1
		for field, c := range map[string]Config{
			"Config.Workers": {Workers: -1}, "Config.Queues": {Queues: map[string]int{}},
			"Config.Lease": {Lease: day}, "Config.Sweep": {Sweep: day}, "Config.Heartbeat": {Heartbeat: day},
		} {
			var refused *InputError
			if _, err := c.withDefaults(); !errors.As(err, &refused) || refused.Field != field {
				t.Errorf("%s: %v", field, err)
			}
		}
		if _, err := (Config{DrainTimeout: math.MaxInt64}).withDefaults(); err != nil {
			t.Error(err)
		}
	})
}
