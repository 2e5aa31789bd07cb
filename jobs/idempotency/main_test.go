package idempotency_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Run(m)) }

// bench is a database and claims on it, with what a test needs to look and to age.
type bench struct {
	*testing.T
	*idempotency.Claims
	db  *store.DB
	ctx context.Context
}

func setup(t *testing.T) *bench { return setupWith(t, idempotency.Config{}) }

func setupWith(t *testing.T, cfg idempotency.Config) *bench {
	t.Helper()
	t.Parallel()
	db := storetest.New(t)
	return &bench{T: t, Claims: newClaims(t, db, cfg), db: db, ctx: t.Context()}
}

func newClaims(t testing.TB, db *store.DB, cfg idempotency.Config) *idempotency.Claims {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	c, err := idempotency.New(db, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// another is the same claims as another process would have them.
func (b *bench) another() *idempotency.Claims {
	return newClaims(b.T, b.db, idempotency.Config{Holder: "another"})
}

var mail = idempotency.NewKey("invoice-email", 42)

func (b *bench) claim(c *idempotency.Claims, key idempotency.Key, opts ...idempotency.Option) idempotency.Outcome {
	b.Helper()
	out, err := c.Claim(b.ctx, nil, key, opts...)
	if err != nil {
		b.Fatal(err)
	}
	return out
}

// hold claims the key and fails the test unless it is held.
func (b *bench) hold(opts ...idempotency.Option) *idempotency.Claim {
	b.Helper()
	out := b.claim(b.Claims, mail, opts...)
	if out.Result != idempotency.Held {
		b.Fatalf("claim: %v, want held", out.Result)
	}
	return out.Claim
}

func (b *bench) ok(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) lost(err error) {
	b.Helper()
	if !errors.Is(err, idempotency.ErrClaimLost) {
		b.Errorf("error %v, want ErrClaimLost", err)
	}
}

func (b *bench) same(want, got any) {
	b.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		b.Error(diff)
	}
}

// exec writes what no function writes.
func (b *bench) exec(text string, args ...any) {
	b.Helper()
	tx, err := b.db.Beginx()
	b.ok(err)
	defer tx.Rollback()
	_, err = tx.ExecContext(b.ctx, text, args...)
	b.ok(err)
	b.ok(tx.Commit())
}

// age makes claims made outside of jobs stale.
func (b *bench) age() {
	b.Helper()
	b.exec(`update tekrar.effect_claims set claimed_at = claimed_at - interval '11 min', stale_at = stale_at - interval '11 min',
		effect_at = effect_at - interval '11 min', touched_at = touched_at - interval '11 min'`)
}

func ask[T any](b *bench, query string, args ...any) (v T) {
	b.Helper()
	b.ok(b.db.GetContext(b.ctx, &v, query, args...))
	return v
}

// state is where a key's claim stands.
func (b *bench) state(key idempotency.Key) string {
	b.Helper()
	return ask[store.EffectState](b, `select state from tekrar.effect_claims where key = $1`, key.String()).String()
}

// engine runs jobs on the bench's database until the test ends.
func (b *bench) engine(register func(*jobs.Client)) *jobs.Client {
	b.Helper()
	c, err := jobs.New(b.db, jobs.Config{Workers: 4, Lease: 2 * time.Second, Heartbeat: 500 * time.Millisecond,
		Sweep: 200 * time.Millisecond, DrainTimeout: 5 * time.Second, Logger: slog.New(slog.DiscardHandler)})
	b.ok(err)
	register(c)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.Errorf("Run: %v", err)
		}
		if err := b.db.Check(context.Background()); err != nil {
			b.Errorf("the checker found: %v", err)
		}
	})
	return c
}

// send is the job of most tests.
type send struct {
	Invoice int `json:"invoice"`
}

func (send) Kind() string { return "send" }

func (b *bench) enqueue(c *jobs.Client, args jobs.Args, opts ...jobs.EnqueueOption) int64 {
	b.Helper()
	r, err := c.Enqueue(b.ctx, args, opts...)
	b.ok(err)
	return r.ID
}

// waitFor returns the job once it is in the state.
func (b *bench) waitFor(id int64, s store.State) (d store.JobDetail) {
	b.Helper()
	b.eventually("job is "+s.String(), func() bool {
		var err error
		d, err = b.db.Job(b.ctx, id, 100, 0)
		b.ok(err)
		return d.State == s
	})
	return d
}

func (b *bench) eventually(what string, holds func() bool) {
	b.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for pause := 5 * time.Millisecond; !holds(); pause = min(pause*3/2, 50*time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatalf("not within 30 s: %s", what)
		}
		time.Sleep(pause)
	}
}

// told lists a job's history, oldest first.
func told(d store.JobDetail) (list []string) {
	for i := len(d.History) - 1; i >= 0; i-- {
		list = append(list, strings.TrimSuffix(d.History[i].State.String()+": "+d.History[i].Reason, ": "))
	}
	return list
}
