package jobs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// RTY-15: a time that has passed is now, for the wait that is shown too; far ones
// are kept exactly, up to the last moment of the year 9999.
func TestTimesAtTheirLimits_RTY15(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	c := newClient(t, db, quickly())
	last := time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)
	for name, o := range map[string]jobs.EnqueueOption{
		"an hour ago": jobs.At(time.Now().Add(-time.Hour)), "zero": jobs.At(time.Time{}), "before 1970": jobs.At(time.Date(1066, 10, 14, 0, 0, 0, 0, time.UTC)),
		"minus an hour": jobs.In(-time.Hour), "the longest past": jobs.In(-1 << 63),
	} {
		if e := enqueue(t, c, task{}, o); e.State != store.Enqueued {
			t.Errorf("%s: %v", name, e.State)
		}
	}
	same(t, 5, ask[int](t, db, `select count(*) from tekrar.ready where ready_at between clock_timestamp() - interval '1 minute' and clock_timestamp()`))
	for name, o := range map[string]jobs.EnqueueOption{
		"the last moment": jobs.At(last), "the last moment elsewhere": jobs.At(last.In(time.FixedZone("", 14*3600))),
		"two thousand years": jobs.At(time.Now().AddDate(2000, 0, 0)), "the longest duration": jobs.In(1<<63 - 1),
	} {
		e := enqueue(t, c, task{}, o)
		rows, err := db.JobRows(t.Context(), []int64{e.ID})
		if err != nil || e.State != store.Scheduled || rows[0].RunAt == nil || rows[0].RunAt.Before(time.Now().AddDate(290, 0, 0)) {
			t.Errorf("%s: %+v, %+v, %v", name, e, rows, err)
		}
	}
	same(t, 2, ask[int](t, db, `select count(*) from tekrar.scheduled where run_at = '9999-12-31 23:59:59.999999Z'`))
	_, err := c.Enqueue(t.Context(), task{}, jobs.At(last.Add(time.Microsecond)))
	refusedAs(t, err, "at", "the year 10000 (UTC) is after 9999")
	check(t, db)
}

// ARG-06: one transaction enqueues a thousand jobs with args beyond what a
// notification carries, each on a queue with the longest name.
func TestTransactionOfAThousandJobs_ARG06(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	c := newClient(t, db, quickly())
	long := strings.Repeat("🐢", jobs.MaxNameLength-4)
	items := make([]jobs.Item, 1000)
	for i := range items {
		items[i] = jobs.Item{Args: greet{Name: fmt.Sprintf("%08100d", i)}, Options: []jobs.EnqueueOption{jobs.Queue(fmt.Sprintf("%04d%s", i, long))}}
	}
	err := db.Tx(t.Context(), func(tx *sqlx.Tx) error {
		placed, err := c.EnqueueManyTx(t.Context(), tx, items)
		if err == nil && len(placed) != 1000 {
			t.Errorf("%d placed", len(placed))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	same(t, 1000, ask[int](t, db, `select count(distinct queue) from tekrar.ready`))
	check(t, db)
}

// mended is task after its type was put right.
type mended struct {
	N string `json:"n"`
}

func (mended) Kind() string { return "task" }

// ARG-11: what could not be decoded is run again after the deploy that can.
func TestArgsDecodeAfterADeploy_ARG11(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	broken := startOn(t, db, quickly(), on(nothing, jobs.Retry(jobs.NoRetry())))
	placed, err := broken.EnqueueRaw(t.Context(), "task", json.RawMessage(`{"n":"abc"}`))
	if err != nil {
		t.Fatal(err)
	}
	broken.waitFor(placed.ID, store.Failed)
	broken.stop()
	got := make(chan string, 1)
	r := startOn(t, db, quickly(), on(func(_ context.Context, j *jobs.Job[mended]) error { got <- j.Args.N; return nil }))
	defer r.stop()
	r.requeue(jobs.KeepRetries, placed.ID, store.Failed)
	same(t, "abc", <-got)
	r.waitFor(placed.ID, store.Succeeded)
	r.stop()
	check(t, db)
}
