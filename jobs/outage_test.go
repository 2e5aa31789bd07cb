package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/pgtemp"
	"github.com/tekrar/tekrar/store/storetest"
)

// DBX-16, in two ways, one after the other: they share a server of their own.
func TestDBX16(t *testing.T) {
	t.Parallel()
	server := storetest.NewServer(t, map[string]string{"max_connections": "60"})
	for name, test := range map[string]func(*testing.T, *pgtemp.Server, string){
		"restarts": restartsUnderLoad, "outage": outageLongerThanTheLease,
	} {
		if err := server.CreateDatabase(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		if err := storetest.Open(t, server.DSN(name), store.Options{}).Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { test(t, server, server.DSN(name)) })
	}
}

// The database goes away under load, by a crash and by an ordinary restart.
// Nothing that was acknowledged is lost, every job ends in one final state, and
// the engines go on without anybody's help.
func restartsUnderLoad(t *testing.T, server *pgtemp.Server, dsn string) {
	db := storetest.Open(t, dsn, store.Options{})
	var ran sync.Map // job ids
	var finished atomic.Int64
	handle := on(func(_ context.Context, j *jobs.Job[task]) error {
		ran.Store(j.ID, true)
		finished.Add(1)
		if j.Args.N%10 == 0 {
			return errors.New("every tenth fails")
		}
		return nil
	}, jobs.Retry(jobs.NoRetry()))
	cfg := quickly()
	cfg.Workers = 8
	one := startOn(t, db, cfg, handle)
	defer one.stop()
	two := startOn(t, storetest.Open(t, dsn, store.Options{}), cfg, handle)
	defer two.stop()

	var acknowledged sync.Map
	var accepted atomic.Int64
	load, stop := context.WithCancel(t.Context())
	var enqueuers sync.WaitGroup
	for i := range 4 {
		enqueuers.Go(func() { enqueueUntil(load, one.Client, i%2 == 0, &acknowledged, &accepted) })
	}
	flows := func() {
		t.Helper()
		a, f := accepted.Load(), finished.Load()
		eventually(t, "jobs are enqueued and run", func() bool { return accepted.Load() > a+200 && finished.Load() > f+200 })
	}
	flows()
	for name, interrupt := range map[string]func(*pgtemp.Server, context.Context) error{
		"crash": (*pgtemp.Server).Crash, "restart": (*pgtemp.Server).Halt,
	} {
		if err := interrupt(server, t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := server.Restart(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		flows()
	}
	stop()
	enqueuers.Wait()
	eventually(t, "no job is left in a hot table but failed ones", func() bool {
		return ask[int](t, db, `select (select count(*) from tekrar.ready) + (select count(*) from tekrar.running) + (select count(*) from tekrar.scheduled)`) == 0
	})
	one.stop()
	two.stop()
	check(t, db)

	states := map[int64]store.State{}
	rows, err := db.QueryContext(context.Background(), `select j.id, h.state from tekrar.jobs j
		cross join lateral (select state from tekrar.history where job_id = j.id and state <= 6 order by id desc limit 1) h`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var s store.State
		if err := rows.Scan(&id, &s); err != nil {
			t.Fatal(err)
		}
		states[id] = s
	}
	acknowledged.Range(func(id, n any) bool {
		want := store.Succeeded
		if n.(int)%10 == 0 {
			want = store.Failed
		}
		if got := states[id.(int64)]; got != want {
			t.Errorf("job %d was acknowledged and is %v, want %v", id, got, want)
		}
		if _, ok := ran.Load(id); !ok {
			t.Errorf("job %d never ran", id)
		}
		return !t.Failed()
	})
}

// enqueueUntil enqueues jobs, singly or by ten, and notes those whose commit was
// acknowledged. Errors are the outage's.
func enqueueUntil(ctx context.Context, c *jobs.Client, single bool, acknowledged *sync.Map, accepted *atomic.Int64) {
	for n := 0; ctx.Err() == nil; n += 10 {
		items := make([]jobs.Item, 10)
		for i := range items {
			items[i].Args = task{N: n + i}
		}
		attempt, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		var placed []jobs.EnqueueResult
		var err error
		if single {
			var one jobs.EnqueueResult
			items = items[n/10%10:][:1]
			if one, err = c.Enqueue(attempt, items[0].Args); err == nil {
				placed = []jobs.EnqueueResult{one}
			}
		} else {
			placed, err = c.EnqueueMany(attempt, items)
		}
		cancel()
		for i, p := range placed {
			if _, twice := acknowledged.LoadOrStore(p.ID, items[i].Args.(task).N); twice {
				panic(fmt.Sprintf("the id %d was given twice", p.ID))
			}
		}
		accepted.Add(int64(len(placed)))
		if err != nil {
			select { // an enqueuer that spins would keep the server from coming back
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
}
