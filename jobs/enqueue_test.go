package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

type digits struct {
	ID  int64 `json:"id"`
	Any any   `json:"any"`
}

func (digits) Kind() string { return "digits" }

// ARG-03: nineteen digits reach the handler as they were, typed or not.
func TestARG03DigitsSurvive(t *testing.T) {
	t.Parallel()
	const number = 1970670598291982290
	got := make(chan digits, 2)
	r := start(t, quickly(), on(func(_ context.Context, j *jobs.Job[digits]) error { got <- j.Args; return nil }))
	r.put(digits{ID: number, Any: int64(number)})
	if _, err := r.EnqueueRaw(t.Context(), "digits", json.RawMessage(`{"id": 1970670598291982290, "any": 1970670598291982290}`)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		same(t, digits{ID: number, Any: json.Number("1970670598291982290")}, <-got)
	}
}

// Callers at the same time share statements; each gets the id of its own job.
func TestConcurrentEnqueuesGetTheirOwnIDs(t *testing.T) {
	t.Parallel()
	const callers, each = 64, 20
	var seen sync.Map // id -> n, as the handler saw it
	r := start(t, quickly(), on(func(_ context.Context, j *jobs.Job[task]) error { seen.Store(j.ID, j.Args.N); return nil }))
	placed := make([]int64, callers*each)
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			for k := range each {
				one, err := r.Enqueue(context.Background(), task{N: i*each + k})
				if err != nil {
					t.Error(err)
				}
				placed[i*each+k] = one.ID
			}
		})
	}
	all.Wait()
	for n, id := range placed {
		eventually(t, "the job has run", func() bool { _, ok := seen.Load(id); return ok })
		if got, _ := seen.Load(id); got != n {
			t.Fatalf("caller of %d was given job %d, which has %v", n, id, got)
		}
	}
	r.waitFor(placed[len(placed)-1], store.Succeeded)
	statements := ask[int](t, r.db, `select count(distinct xmin::text) from tekrar.jobs`)
	if statements >= callers*each {
		t.Errorf("%d jobs took %d statements", callers*each, statements)
	}
}

// The calls of others go on when the context of one ends.
func TestEnqueueWithEndedContext(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	c := newClient(t, db, quickly())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Enqueue(ended, task{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Enqueue with an ended context: %v", err)
	}
	lock, err := db.Beginx()
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Rollback()
	if _, err := lock.Exec(`lock table tekrar.jobs in exclusive mode`); err != nil {
		t.Fatal(err)
	}
	ctx, give := context.WithCancel(t.Context())
	left, stayed := make(chan error, 1), make(chan error, 1)
	go func() { _, err := c.Enqueue(ctx, task{N: 1}); left <- err }()
	go func() { _, err := c.Enqueue(t.Context(), task{N: 2}); stayed <- err }()
	eventually(t, "the statement waits", func() bool {
		return ask[int](t, db, `select count(*) from pg_locks where not granted and relation = 'tekrar.jobs'::regclass`) > 0
	})
	give()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller that left got %v", err)
	}
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-stayed; err != nil {
		t.Errorf("the caller that stayed got %v", err)
	}
	check(t, db)
}

// More than one statement's worth still is all or nothing, and in order.
func TestEnqueueManyOfFiveThousand(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	c := newClient(t, db, quickly())
	placed, err := c.EnqueueMany(t.Context(), tasks(5000))
	if err != nil {
		t.Fatal(err)
	}
	same(t, 5000, len(placed))
	for _, i := range []int{0, 1999, 2000, 4999} {
		same(t, i, ask[int](t, db, `select (args ->> 'n')::int from tekrar.jobs where id = $1`, placed[i].ID))
	}
	same(t, 5000, ask[int](t, db, `select count(*) from tekrar.ready`))
	check(t, db)
}

// In and At: never early by the database's clock, and the past is now.
func TestInAndAt(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), on(nothing))
	const wait = 2 * time.Second // longer than a busy machine takes from the option to the insert
	for _, option := range []func() jobs.EnqueueOption{
		func() jobs.EnqueueOption { return jobs.In(wait) },
		func() jobs.EnqueueOption {
			return jobs.At(ask[time.Time](t, r.db, `select clock_timestamp()`).Add(wait))
		},
	} {
		placed, err := r.Enqueue(t.Context(), task{}, option())
		if err != nil {
			t.Fatal(err)
		}
		same(t, store.Scheduled, placed.State)
		d := r.waitFor(placed.ID, store.Succeeded)
		same(t, []string{"scheduled", "enqueued: Triggered by scheduler", "processing", "succeeded"}, told(d))
		var asked struct {
			RunAt time.Time `json:"run_at"`
		}
		if err := json.Unmarshal(d.History[3].Data, &asked); err != nil {
			t.Fatal(err)
		}
		if late := d.History[2].At.Sub(asked.RunAt); late < 0 || late > 3*time.Second {
			t.Errorf("started %v after its time", late)
		}
	}
	for _, option := range []jobs.EnqueueOption{jobs.In(-time.Hour), jobs.At(time.Now().Add(-time.Hour)), jobs.At(time.Time{}), jobs.At(time.Unix(-1e9, 0))} {
		placed, err := r.Enqueue(t.Context(), task{}, option)
		if err != nil {
			t.Fatal(err)
		}
		same(t, store.Enqueued, placed.State)
	}
}

// SCL-08: the higher number first, then whoever became ready first.
func TestSCL08PriorityOrder(t *testing.T) {
	t.Parallel()
	order := make(chan int, 100)
	cfg := quickly()
	cfg.Workers = 1
	db := storetest.New(t)
	r := startOn(t, db, cfg, on(func(_ context.Context, j *jobs.Job[task]) error { order <- j.Args.N; return nil }))
	defer r.stop()
	if err := r.PauseQueue(t.Context(), "ada", jobs.DefaultQueue); err != nil {
		t.Fatal(err)
	}
	for n, p := range []int{0, -4, 4, 0, 4, 1, -1} {
		r.put(task{N: n}, jobs.Priority(p))
	}
	if err := r.ResumeQueue(t.Context(), "ada", jobs.DefaultQueue); err != nil {
		t.Fatal(err)
	}
	var got []int
	for range 7 {
		got = append(got, <-order)
	}
	same(t, []int{2, 4, 5, 0, 3, 6, 1}, got)
	r.stop()
	check(t, db)
}
