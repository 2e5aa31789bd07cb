package jobs_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// A bulk operation outlives the request that asked for it; it is audited once, and
// a deletion can be undone.
func TestBulkSurvivesItsRequest(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	c := newClient(t, db, quickly())
	var items []jobs.Item
	for range 700 {
		items = append(items, jobs.Item{Args: task{}, Options: []jobs.EnqueueOption{jobs.In(time.Hour)}})
	}
	if _, err := c.EnqueueMany(t.Context(), items); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	f := store.JobFilter{State: store.Scheduled}
	id, err := c.StartBulk(ctx, "ann", jobs.Bulk{Action: "delete", Filter: f, Expected: 700})
	cancel()
	if err != nil {
		t.Fatal(err)
	}
	ended := func(id int64, n int64) func() bool {
		return func() bool {
			b, err := db.Bulk(t.Context(), id)
			return err == nil && b.State == store.BulkDone && b.Done == n
		}
	}
	eventually(t, "all are deleted", ended(id, 700))
	undo, err := c.UndoBulk(t.Context(), "ann", id)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "all are restored", ended(undo, 700))
	same(t, 2, ask[int](t, db, `select count(*) from tekrar.audit`))
	if _, err := c.UndoBulk(t.Context(), "ann", undo); !errors.Is(err, store.ErrStateChanged) {
		t.Errorf("an undo was undone: %v", err)
	}
	check(t, db)
}

func TestBulkRefusesBadInput(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	c := newClient(t, db, quickly())
	for _, try := range []struct {
		actor string
		b     jobs.Bulk
	}{
		{"", jobs.Bulk{Action: "delete", Filter: store.JobFilter{State: store.Failed}}},
		{"ann", jobs.Bulk{Action: "drop", Filter: store.JobFilter{State: store.Failed}}},
		{"ann", jobs.Bulk{Action: "delete"}},
	} {
		if id, err := c.StartBulk(t.Context(), try.actor, try.b); err == nil {
			t.Errorf("%+v: began as %d", try, id)
		}
	}
	same(t, 0, ask[int](t, db, `select count(*) from tekrar.bulk_operations`))
	if err := c.StopBulk(t.Context(), "ann", 7); !errors.Is(err, store.ErrStateChanged) {
		t.Error(err)
	}
}

// What a dead process left, an engine takes up.
func TestBulkOfADeadProcessGoesOn(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	c := newClient(t, db, quickly())
	if _, err := c.Enqueue(t.Context(), task{}, jobs.In(time.Hour)); err != nil {
		t.Fatal(err)
	}
	id, err := db.BeginBulk(t.Context(), "ann", store.NewBulk{Action: "delete", Filter: store.JobFilter{State: store.Scheduled}, SeenAt: time.Now().Add(time.Hour), Expected: 1})
	if err != nil {
		t.Fatal(err)
	}
	ask[int64](t, db, `with b as (update tekrar.bulk_operations set beat_at = now() - interval '1 minute' returning id) select id from b`)
	if err := jobs.ResumeBulks(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is done", func() bool {
		b, err := db.Bulk(t.Context(), id)
		return err == nil && b.State == store.BulkDone && b.Done == 1
	})
}
