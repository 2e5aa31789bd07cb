package idempotency_test

import (
	"encoding/json"
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
	call, err := b.db.BeginCall(b.ctx, store.ProviderCall{Provider: "mail", Key: "old", Payload: "x"})
	b.ok(err)
	b.exec(`update tekrar.provider_calls set at = at - interval '31 days' where id = $1`, call)
	_, err = b.db.BeginCall(b.ctx, store.ProviderCall{Provider: "mail", Key: "young", Payload: "x"})
	b.ok(err)
	b.waitFor(b.enqueue(c, idempotency.PurgeJob{DryRun: true}), store.Succeeded)
	b.same(2, ask[int](b, `select count(*) from tekrar.provider_calls`))
	b.same("claimed", b.state(mail))
	b.same(2, ask[int](b, `select count(*) from tekrar.effect_claims`))
	for _, want := range []string{
		`{"made_unknown":0,"released":1,"calls_removed":1,"removed":1,"young":1,"unsettled":0,"reserved":0,"job_failed":0,"job_live":0}`,
		`{"made_unknown":0,"released":0,"calls_removed":0,"removed":0,"young":1,"unsettled":0,"reserved":0,"job_failed":0,"job_live":0}`,
	} {
		d := b.waitFor(b.enqueue(c, idempotency.PurgeJob{}), store.Succeeded)
		var said struct{ Result json.RawMessage }
		b.ok(json.Unmarshal(d.History[0].Data, &said))
		var result, wanted any
		b.ok(json.Unmarshal(said.Result, &result))
		b.ok(json.Unmarshal([]byte(want), &wanted))
		b.same(wanted, result)
	}
	b.same("young", ask[string](b, `select string_agg(key, ' ') from tekrar.provider_calls`))
	b.same("released", b.state(mail))
	b.same(1, ask[int](b, `select count(*) from tekrar.effect_claims`))
	if d := b.waitFor(b.enqueue(c, idempotency.PurgeJob{WindowHours: -1}), store.Failed); !strings.Contains(d.ErrorLine, "Window") {
		t.Errorf("a negative window: %q", d.ErrorLine)
	}
	if text := idempotency.Kept(idempotency.Purged{JobFailed: 3}); !strings.Contains(text, "3 of failed jobs") {
		t.Error(text)
	}
}
