package jobs_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store/storetest"
)

// SCL-05, a tenth of its size: 20,000 tiny jobs, half of them failing, leave nothing
// behind: the second half of them ends with the heap of the first within 10 %, and
// with as many goroutines as an idle engine has.
func TestSCL05NothingIsLeftOfAJob(t *testing.T) { // not parallel: it looks at the whole process
	if testing.Short() {
		t.Skip("runs 22,000 jobs")
	}
	db := storetest.New(t)
	before := runtime.NumGoroutine()
	cfg := quickly()
	cfg.Workers, cfg.Lease, cfg.Heartbeat = 50, 30*time.Second, 5*time.Second
	r := startOn(t, db, cfg, on(func(_ context.Context, j *jobs.Job[task]) error {
		if j.Args.N%2 == 0 {
			return errors.New("tiny failure")
		}
		return nil
	}, jobs.Retry(jobs.NoRetry())))
	done := 0
	round := func(n int) (heap uint64, goroutines int) {
		for range n / 1000 {
			if _, err := r.EnqueueMany(t.Context(), tasks(1000)); err != nil {
				t.Fatal(err)
			}
		}
		done += n
		eventually(t, "the jobs have ended", func() bool {
			return ask[int](t, db, `select coalesce(sum(n), 0) from tekrar.stats`) == done
		})
		eventually(t, "the workers have ended", func() bool {
			goroutines = runtime.NumGoroutine()
			runtime.GC()
			return goroutines <= before+60
		})
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, goroutines
	}
	round(2000) // pools, statements and buffers come into being
	heap1, first := round(10_000)
	heap2, second := round(10_000)
	t.Logf("heap %d and %d KiB, goroutines %d and %d", heap1>>10, heap2>>10, first, second)
	if float64(heap2) > 1.1*float64(heap1)+128<<10 { // the heap is small, a leaked map entry a job would be more
		t.Errorf("the heap grew from %d to %d KiB", heap1>>10, heap2>>10)
	}
	if second > first+3 {
		t.Errorf("goroutines grew from %d to %d", first, second)
	}
	same(t, done/2, ask[int](t, db, `select count(*) from tekrar.failed`))
	r.stop()
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
}
