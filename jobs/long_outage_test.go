package jobs_test

import (
	"context"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/pgtemp"
	"github.com/tekrar/tekrar/store/storetest"
)

// When the database was away for longer than a lease, all leases have ended at
// once. The servers are well: they renew, and nobody takes the jobs of another.
func outageLongerThanTheLease(t *testing.T, server *pgtemp.Server, dsn string) {
	db := storetest.Open(t, dsn, store.Options{})
	began, finish := make(chan int, 9), make(chan struct{})
	var servers []*running
	cfg := quickly()
	cfg.Workers = 1
	for range 2 {
		r := startOn(t, storetest.Open(t, dsn, store.Options{}), cfg, on(func(ctx context.Context, j *jobs.Job[task]) error {
			began <- j.Attempt
			select {
			case <-finish:
			case <-ctx.Done():
				t.Errorf("the context ended: %v", context.Cause(ctx))
			}
			return nil
		}))
		defer r.stop()
		servers = append(servers, r)
	}
	ids := []int64{servers[0].put(task{}), servers[0].put(task{})}
	same(t, []int{1, 1}, []int{<-began, <-began})

	if err := server.Halt(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone := time.Now()
	eventually(t, "the leases have ended", func() bool { return time.Since(gone) > cfg.Lease+cfg.Heartbeat })
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "both servers have renewed their leases", func() bool { return live(t, db) == 2 })
	eventually(t, "both servers have had time to sweep", func() bool {
		return ask[bool](t, db, `select clock_timestamp() - pg_postmaster_start_time() > interval '2 seconds'`)
	})
	close(finish)
	for _, id := range ids {
		same(t, []string{"enqueued", "processing", "succeeded"}, told(servers[0].waitFor(id, store.Succeeded)))
	}
	same(t, 0, ask[int](t, db, `select count(*) from tekrar.servers where lost_at is not null`))
	for _, r := range servers {
		r.stop()
	}
	check(t, db)
}
