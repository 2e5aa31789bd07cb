package jobs_test

import (
	"context"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// The database takes no writes for longer than a lease while jobs run. Both servers
// wait, nobody takes the jobs of another, and what the handlers did is written then.
func TestReadOnlyForLongerThanTheLease_DBX16(t *testing.T) {
	t.Parallel()
	server := storetest.NewServer(t, map[string]string{"max_connections": "60"})
	if err := server.CreateDatabase(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	dsn := server.DSN("shop")
	db := storetest.Open(t, dsn, store.Options{})
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	began, finish := make(chan int, 9), make(chan struct{})
	cfg := quickly()
	cfg.Workers, cfg.Lease, cfg.Heartbeat = 1, 3*time.Second, 300*time.Millisecond // a busy machine may keep a renewal waiting
	var servers []*running
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

	storetest.Admin(t, server, `alter system set default_transaction_read_only = on`, `select pg_reload_conf()`)
	eventually(t, "all leases have ended", func() bool { return live(t, db) == 0 })
	close(finish) // the outcomes have to wait
	swept := time.Now()
	eventually(t, "there was time for several sweeps", func() bool { return time.Since(swept) > 5*cfg.Sweep })
	storetest.Admin(t, server, `alter system reset default_transaction_read_only`, `select pg_reload_conf()`)
	for _, id := range ids {
		same(t, []string{"enqueued", "processing", "succeeded"}, told(servers[0].waitFor(id, store.Succeeded)))
	}
	eventually(t, "both have renewed", func() bool { return live(t, db) == 2 })
	same(t, 0, ask[int](t, db, `select count(*) from tekrar.servers where lost_at is not null`))
	for _, r := range servers {
		r.stop()
	}
	check(t, db)
}
