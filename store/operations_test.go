package store_test

import (
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
)

// operations runs what the pages of failures, searches, bulk operations and the
// audit run, in any schema and mode; every job is where it was before.
func operations(t *testing.T, db *store.DB) {
	t.Helper()
	ctx := t.Context()
	ok := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	const all = `x kind:k -queue:z id>0 attempt<99 error:bad tag:t server:n'1 created>2020-01-01 finished<1h args.id:1970670598291982290 args.id>5 args:7`
	for _, s := range store.States {
		f := store.JobFilter{State: s, Query: query(t, all)}
		_, _, err := db.Jobs(ctx, f)
		ok("search", err)
		_, err = db.CountWithin(ctx, store.JobFilter{State: s, Kind: "k"}, time.Now(), time.Minute)
		ok("count", err)
		f.Hidden = store.Hidden{Keys: [][]string{{"api", "key"}}, Paths: [][]string{{"a", "*"}}}
		_, _, err = db.Jobs(ctx, f)
		ok("search among what is shown", err)
		f.Query = query(t, "key:none")
		_, _, err = db.Jobs(ctx, f)
		ok("search by key", err)
	}
	rows, _, err := db.Jobs(ctx, store.JobFilter{State: store.Scheduled, Kind: "k", Query: query(t, "args.id:1970670598291982290")})
	ok("search", err)
	if len(rows) != 1 {
		t.Errorf("found %d", len(rows))
	}
	ids := jobIDs(rows)
	args, err := db.ArgsOf(ctx, ids)
	ok("args", err)
	if len(args) != 1 {
		t.Errorf("args of %d", len(args))
	}
	_, err = db.FailureGroups(ctx, false, 5)
	ok("groups", err)
	ok("mute", db.MuteFailures(ctx, "o'ann", "k", -7))
	_, err = db.MutedFailures(ctx)
	ok("muted", err)
	ok("unmute", db.UnmuteFailures(ctx, "o'ann", "k", -7))
	before, err := db.CountJobs(ctx, store.JobFilter{State: store.Enqueued})
	ok("count", err)
	id, err := db.BeginBulk(ctx, "o'ann", store.NewBulk{Action: "delete", Filter: store.JobFilter{State: store.Enqueued}, SeenAt: time.Now().Add(time.Hour), Expected: before.N})
	ok("begin", err)
	if b := drain(t, db, id); b.Done != before.N {
		t.Errorf("deleted %d of %d", b.Done, before.N)
	}
	undo, err := db.BeginUndo(ctx, "o'ann", id)
	ok("undo", err)
	if b := drain(t, db, undo); b.Done != before.N {
		t.Errorf("restored %d of %d", b.Done, before.N)
	}
	audit, _, err := db.AuditRows(ctx, store.AuditFilter{Actor: "o'ann"})
	ok("audit", err)
	if len(audit) < 4 || audit[0].Bulk == nil {
		t.Errorf("audit %+v", audit)
	}
	_, _, err = db.AuditWords(ctx)
	ok("words", err)
	ok("prune", db.PruneBulks(ctx, time.Hour))
}
