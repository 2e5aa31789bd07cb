package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/store"
)

// One job in each state and all legal detours: 1 enqueued, 2 scheduled,
// 3 processing, 4 succeeded, 5 failed, 6 deleted, 7 went through everything,
// 8 awaiting.
func consistent(t *testing.T, db *store.DB) {
	t.Helper()
	var jobs []past
	for _, s := range []store.State{store.Enqueued, store.Scheduled, store.Processing, store.Succeeded, store.Failed, store.Deleted} {
		jobs = append(jobs, past{states: way(s)})
	}
	const sc, e, p, s, f, d = store.Scheduled, store.Enqueued, store.Processing, store.Succeeded, store.Failed, store.Deleted
	put(t, db, append(jobs, past{states: []store.State{sc, e, p, e, p, sc, e, p, f, sc, e, p, f, e, p, s, store.Late, d, e, d, e, p, d}},
		past{states: way(store.Awaiting)})...)
}

func TestCheckFindsNothing(t *testing.T) {
	ctx, db := readSetup(t)
	if err := db.Check(ctx); err != nil {
		t.Errorf("empty: %v", err)
	}
	consistent(t, db)
	if err := db.Check(ctx); err != nil {
		t.Error(err)
	}
}

// Each breach of one row must be found and name the job.
func TestCheckFindsBreaches(t *testing.T) {
	for name, c := range map[string]struct{ breach, want string }{
		"two hot tables":       {`insert into tekrar.running (job_id, server, attempt, queue, kind) values (1, 1, 0, 'default', 'k')`, "job 1: in several hot tables: enqueued, processing"},
		"hot row, no job":      {`insert into tekrar.ready (job_id, queue, kind) values (99, 'default', 'k')`, "job 99: has rows, but no row in jobs"},
		"history, no job":      {`insert into tekrar.history (job_id, attempt, state, queue, kind) values (98, 0, 2, 'default', 'k')`, "job 98: has rows, but no row in jobs"},
		"no history":           {`delete from tekrar.history where job_id = 1`, "job 1: no history"},
		"only late history":    {`update tekrar.history set state = 7 where job_id = 1`, "job 1: no history"},
		"lost hot row":         {`delete from tekrar.failed`, "job 5: history 10 says failed, but no hot table has it"},
		"finished and hot":     {`insert into tekrar.ready (job_id, attempt, queue, kind) values (4, 1, 'default', 'k')`, "job 4"},
		"other state":          {`with d as (delete from tekrar.ready where job_id = 1 returning *) insert into tekrar.failed (job_id, queue, kind) select job_id, queue, kind from d`, "job 1: history 1 says enqueued, but it is failed"},
		"other attempt":        {`update tekrar.running set attempt = 2`, "job 3: processing at attempt 2, but history 4 says attempt 1"},
		"other server":         {`update tekrar.running set server = 2`, "job 3: processing on server 2, but history 4 says server 1"},
		"other queue":          {`update tekrar.scheduled set queue = 'other'`, "job 2: its scheduled row has queue other"},
		"other kind":           {`update tekrar.running set kind = 'other'`, "job 3: its processing row has queue default, kind other"},
		"awaits no more":       {`delete from tekrar.awaiting`, "job 8: history 37 says awaiting, but no hot table has it"},
		"awaits and is ready":  {`insert into tekrar.ready (job_id, queue, kind) values (8, 'default', 'k')`, "job 8: in several hot tables: awaiting, enqueued"},
		"runs while awaiting":  {`insert into tekrar.history (job_id, attempt, state, queue, kind) values (8, 1, 3, 'default', 'k')`, "processing follows awaiting"},
		"awaits late":          {`insert into tekrar.history (job_id, attempt, state, queue, kind) values (1, 0, -1, 'default', 'k')`, "awaiting follows enqueued"},
		"awaits another":       {`update tekrar.awaiting set queue = 'other'`, "job 8: its awaiting row has queue other"},
		"starts running":       {`delete from tekrar.history where id = 3`, "job 3: history 4: processing follows nothing"},
		"lost claim row":       {`delete from tekrar.history where job_id = 5 and state = 3`, "job 5: history 10: failed follows enqueued"},
		"succeeded twice":      {`insert into tekrar.history (job_id, attempt, state, queue, kind) values (4, 1, 4, 'default', 'k')`, "succeeded follows succeeded"},
		"enqueued by nobody":   {`insert into tekrar.history (job_id, attempt, state, queue, kind) values (1, 0, 2, 'default', 'k')`, "job 1: history 38: enqueued follows enqueued"},
		"attempt not grown":    {`update tekrar.history set attempt = 0 where job_id = 3;; update tekrar.running set attempt = 0`, "job 3: history 4: processing at attempt 0 follows attempt 0"},
		"attempt shrunk":       {`update tekrar.history set attempt = 0 where job_id = 4 and state = 4`, "at attempt 0 follows attempt 1"},
		"statistics too small": {`delete from tekrar.stats where outcome = 1`, "statistics: 0 succeeded, history 2"},
		"statistics too large": {`update tekrar.stats set n = n + 1 where outcome = 4`, "exhausted or permanent, history 3"},
		"outcome not counted":  {`update tekrar.history set reason = 'Interrupted by shutdown' where job_id = 7 and state = 2 and attempt = 1`, "statistics: 0 interrupted, history 1"},
		"loss not counted":     {`update tekrar.history set reason = 'Server web-1 lost; lost 4 times' where job_id = 5 and state = 5`, "statistics: 0 lost, history 1"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, db := readSetup(t)
			consistent(t, db)
			for _, text := range strings.Split(c.breach, ";;") {
				execAll(t, db, text)
			}
			err := db.Check(ctx)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v\nwant %q in it", err, c.want)
			}
		})
	}
}

// Outcomes are told apart by the reasons that settle and reclaim write.
func TestCheckMatchesOutcomes(t *testing.T) {
	ctx, db := readSetup(t)
	row := func(job, state, attempt int, reason string) string {
		return fmt.Sprintf(`insert into tekrar.history (job_id, attempt, state, queue, kind, reason)
			values (%d, %d, %d, 'default', 'k', nullif('%s', ''))`, job, attempt, state, reason)
	}
	put(t, db, past{states: way(store.Enqueued)})
	const failed = "An error occurred during attempt"
	execAll(t, db, `delete from tekrar.ready`,
		row(1, 3, 1, ""), row(1, 5, 1, failed), row(1, 1, 1, "Retry attempt 1 of 3: lost 3 times"),
		row(1, 2, 1, "Triggered by scheduler"), row(1, 3, 2, ""), row(1, 5, 2, failed), row(1, 2, 2, "Retry attempt 2 of 3: at once"),
		row(1, 3, 3, ""), row(1, 2, 3, "Interrupted by shutdown"), row(1, 3, 4, ""), row(1, 1, 4, "Snoozed"),
		row(1, 2, 4, "Triggered by scheduler"), row(1, 3, 5, ""), row(1, 2, 5, "Server a lost"),
		row(1, 3, 6, ""), row(1, 5, 6, "Server a lost; lost 4 times"), row(1, 2, 6, "Requeued by a"),
		row(1, 3, 7, ""), row(1, 5, 7, failed), row(1, 6, 7, "Exceeded the maximum number of retries"), row(1, 2, 7, "Restored by a"),
		row(1, 3, 8, ""), row(1, 6, 8, "Cancelled by its handler"), row(1, 2, 8, "Restored by a"),
		row(1, 3, 9, ""), row(1, 6, 9, "Deleted by a"), row(1, 2, 9, "Restored by a"),
		row(1, 3, 10, ""), row(1, 5, 10, failed), row(1, 2, 10, "Requeued by a"),
		row(1, 3, 11, ""), row(1, 4, 11, ""),
		`insert into tekrar.stats (minute, server, n, run_us, wait_us, outcome, attempt, bucket, queue, kind)
			select now(), 1, n, 0, 0, o, 1, 0, 'default', 'k'
			from (values (1, 1), (2, 2), (4, 1), (5, 1), (6, 1), (7, 1), (8, 2), (9, 1)) v (o, n)`)
	if err := db.Check(ctx); err != nil {
		t.Error(err)
	}
}

func TestCheckNamesTwentyBreaches(t *testing.T) {
	ctx, db := readSetup(t)
	put(t, db, repeat(30, past{states: way(store.Enqueued)})...)
	execAll(t, db, `delete from tekrar.history where job_id > 15`, `delete from tekrar.ready`)
	err := db.Check(ctx)
	if err == nil || strings.Count(err.Error(), "\njob ") != 20 {
		t.Errorf("want 20 breaches, got %v", err)
	}
}
