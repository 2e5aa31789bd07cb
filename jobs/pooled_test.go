package jobs_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// DBX-03, ARG-10: an engine whose address leads through PgBouncer in transaction
// mode: 20 workers run 1,000 jobs once each, and record failures with any text. The
// pooler delivers no notification: the server says that it polls, and cancels and
// wakes by that.
func TestDBX03ARG10EngineThroughPgBouncer(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t)
	direct := storetest.Open(t, dsn, store.Options{})
	db := storetest.Open(t, storetest.Pooled(t, dsn), store.Options{})
	cfg := quickly()
	cfg.Workers = 20
	var mu sync.Mutex
	runs := map[int]int{}
	r := startOn(t, db, cfg, func(c *jobs.Client) {
		jobs.Handle(c, func(_ context.Context, j *jobs.Job[task]) error {
			mu.Lock()
			defer mu.Unlock()
			runs[j.Args.N]++
			return nil
		})
		jobs.Handle(c, func(_ context.Context, j *jobs.Job[flawed]) error { return errors.New(j.Args.Text) }, jobs.Retry(jobs.NoRetry()))
		jobs.Handle(c, func(ctx context.Context, _ *jobs.Job[patient]) error { <-ctx.Done(); return ctx.Err() })
	})
	if _, err := r.EnqueueMany(t.Context(), tasks(1000)); err != nil {
		t.Fatal(err)
	}
	bad := r.put(flawed{Text: `it's \ "bad" {x} ` + "\x01 ünlü"})
	eventually(t, "all have succeeded", func() bool {
		return ask[int](t, direct, `select coalesce(sum(n), 0) from tekrar.stats where outcome = 1`) == 1000
	})
	mu.Lock()
	for n, times := range runs {
		if times != 1 {
			t.Errorf("job %d ran %d times", n, times)
		}
	}
	same(t, 1000, len(runs))
	mu.Unlock()
	if d := r.waitFor(bad, store.Failed); !strings.HasPrefix(d.ErrorLine, `it's \ "bad" {x} `) || !strings.HasSuffix(d.ErrorLine, "ünlü") {
		t.Errorf("the failure says %q", d.ErrorLine)
	}
	waiting := r.put(patient{})
	r.waitFor(waiting, store.Processing)
	if _, err := r.Cancel(t.Context(), "ada", jobs.Target{ID: waiting, Expected: store.Processing}); err != nil {
		t.Fatal(err)
	}
	r.waitFor(waiting, store.Deleted)
	servers, err := db.Servers(t.Context())
	if err != nil || len(servers) != 1 || servers[0].Listening {
		t.Errorf("the server says that it listens: %+v, %v", servers, err)
	}
	r.stop()
	check(t, direct)
}

type flawed struct {
	Text string `json:"text"`
}

func (flawed) Kind() string { return "flawed" }

type patient struct{}

func (patient) Kind() string { return "patient" }
