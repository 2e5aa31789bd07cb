package idempotency_test

import (
	"strings"
	"testing"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/store"
)

// The purge as a job: a dry run changes nothing, the real one sweeps first.
func TestPurgeJob(t *testing.T) {
	b := setup(t)
	c := b.engine(func(c *jobs.Client) { jobs.Handle(c, b.RunPurge) })
	b.settled("old", 0)
	b.hold()
	b.age()
	b.waitFor(b.enqueue(c, idempotency.PurgeJob{DryRun: true}), store.Succeeded)
	b.same("claimed", b.state(mail))
	b.same(2, ask[int](b, `select count(*) from tekrar.effect_claims`))
	for range 2 {
		b.waitFor(b.enqueue(c, idempotency.PurgeJob{}), store.Succeeded)
	}
	b.same("released", b.state(mail))
	b.same(1, ask[int](b, `select count(*) from tekrar.effect_claims`))
	if d := b.waitFor(b.enqueue(c, idempotency.PurgeJob{WindowHours: -1}), store.Failed); !strings.Contains(d.ErrorLine, "Window") {
		t.Errorf("a negative window: %q", d.ErrorLine)
	}
	if text := idempotency.Kept(idempotency.Purged{JobFailed: 3}); !strings.Contains(text, "3 of failed jobs") {
		t.Error(text)
	}
}
