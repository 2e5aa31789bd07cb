package jobs_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// DBX-07: 5,000 jobs are deleted against the order of their ids while eight workers
// complete jobs and retention removes others: the person sees success, nobody's
// result is lost, and no job runs twice.
func TestDBX07BulkDeleteCleanupAndEightWorkers(t *testing.T) {
	t.Parallel()
	cfg := quickly()
	cfg.Workers, cfg.Lease, cfg.Heartbeat = 8, 30*time.Second, 5*time.Second
	var mu sync.Mutex
	runs := map[int64]int{}
	r := start(t, cfg, on(func(_ context.Context, j *jobs.Job[task]) error {
		mu.Lock()
		defer mu.Unlock()
		runs[j.ID]++
		return nil
	}))
	// What retention removes meanwhile: jobs deleted two hours ago.
	if err := r.db.Tx(t.Context(), func(tx *sqlx.Tx) error {
		for _, text := range []string{
			`insert into tekrar.jobs (id, queue, kind, args) select -g, 'old', 'old', '{}' from generate_series(1, 3000) g`,
			`insert into tekrar.history (job_id, at, attempt, state, queue, kind)
				select -g, now() - interval '2 hours', 0, s, 'old', 'old' from generate_series(1, 3000) g cross join (values (2), (6)) v(s) order by g, s`,
		} {
			if _, err := tx.Exec(text); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for range 13 {
		placed, err := r.EnqueueMany(t.Context(), tasks(500))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range placed {
			ids = append(ids, p.ID)
		}
	}
	unwanted := ids[1500:]
	slices.Reverse(unwanted)
	var apart sync.WaitGroup
	removed := 0
	apart.Go(func() {
		for removed < 3000 && t.Context().Err() == nil {
			n, err := r.db.Expire(t.Context(), store.Deleted, time.Hour)
			if err != nil {
				t.Error(err)
				return
			}
			removed += n
		}
	})
	deleted := 0
	for left := unwanted; len(left) > 0; {
		rows, err := r.db.JobRows(t.Context(), left)
		if err != nil {
			t.Fatal(err)
		}
		var targets []jobs.Target
		for _, row := range slices.Backward(rows) { // rows come by id
			targets = append(targets, jobs.Target{ID: row.ID, Expected: row.State})
		}
		moved, err := r.Delete(t.Context(), "ada", targets...)
		if err != nil {
			t.Fatal("the person sees: ", err)
		}
		left = nil
		for _, m := range moved {
			switch {
			case m.Err == nil:
				deleted++
			case errors.Is(m.Err, store.ErrStateChanged) && m.Now != store.Deleted: // it moved on: pressed again
				left = append(left, m.ID)
			default:
				t.Errorf("%+v", m)
			}
		}
	}
	apart.Wait()
	same(t, []int{5000, 3000}, []int{deleted, removed})
	for left := 1200; left >= 0; left -= 300 {
		eventually(t, "all others succeed", func() bool {
			return ask[int](t, r.db, `select count(*) from tekrar.ready`)+ask[int](t, r.db, `select count(*) from tekrar.running`) <= left
		})
	}
	mu.Lock()
	defer mu.Unlock()
	for id, n := range runs {
		if n > 1 {
			t.Errorf("job %d ran %d times", id, n)
		}
	}
	for _, id := range ids[:1500] {
		if runs[id] != 1 {
			t.Errorf("job %d, which nobody deleted, ran %d times", id, runs[id])
		}
	}
}
