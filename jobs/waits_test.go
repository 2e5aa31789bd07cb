package jobs_test

import (
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// A process counts the waits that history has of its own attempts, in the bucket of
// their length.
func TestWaitsAreThoseOfHistory(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	other := newClient(t, db, quickly())
	cfg := quickly()
	cfg.Queues = map[string]int{"default": 2, "late": 2}
	for range 3 {
		enqueue(t, other, task{})
	}
	enqueue(t, other, task{}, jobs.Queue("late"))
	storetest.Exec(t, db, `update tekrar.ready set ready_at = ready_at - interval '3 seconds' where queue = 'late'`)
	r := startOn(t, db, cfg, on(nothing))
	eventually(t, "all are done", func() bool {
		return ask[int](t, db, `select count(*) from tekrar.history where state = 4`) == 4
	})
	all := r.Client.Waits()
	if len(all) != 2 || all[0].Queue != "default" || all[1].Queue != "late" {
		t.Fatalf("queues: %+v", all)
	}
	for i, want := range []int64{3, 1} {
		w, n := all[i], int64(0)
		for _, c := range w.Counts {
			n += c
		}
		sum := time.Duration(ask[int64](t, db, `select sum(latency_us)::bigint from tekrar.history where state = 4 and queue = $1`, w.Queue)) * time.Microsecond
		if n != want || w.Sum != sum || len(w.Counts) != len(w.Bounds)+1 {
			t.Errorf("queue %s: %d waits of %s, want %d of %s", w.Queue, n, w.Sum, want, sum)
		}
	}
	if i := store.Bucket(all[1].Sum); all[1].Counts[i] != 1 || all[1].Sum < 3*time.Second {
		t.Errorf("a wait of %s is in %v", all[1].Sum, all[1].Counts)
	}
	if w := other.Waits(); w != nil {
		t.Errorf("a client that runs nothing waited: %v", w)
	}
}
