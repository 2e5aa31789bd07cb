package jobs_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) add(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

func (d *diary) read() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.lines)
}

func TestMiddlewareAndHooksInOrder(t *testing.T) {
	t.Parallel()
	var d diary
	around := func(name string) jobs.Middleware {
		return func(next jobs.HandlerFunc) jobs.HandlerFunc {
			return func(ctx context.Context, a jobs.AttemptInfo) error {
				d.add(name + " before " + a.Kind)
				err := next(ctx, a)
				d.add(name + " after")
				return err
			}
		}
	}
	cfg := quickly()
	cfg.Middleware = []jobs.Middleware{around("outer"), around("inner")}
	cfg.Hooks = jobs.Hooks{
		Enqueued: func(list []jobs.EnqueueResult) { d.add("enqueued") },
		Started:  func(ctx context.Context, a jobs.AttemptInfo) { d.add("started") },
		Ended:    func(a jobs.AttemptInfo, v jobs.Verdict) { d.add("ended " + v.State.String()) },
	}
	c := cfg
	r := start(t, c, func(c *jobs.Client) {
		jobs.Handle(c, func(context.Context, *jobs.Job[greet]) error { d.add("handler"); return nil }, jobs.Use(around("own")))
	})
	id := enqueue(t, r.Client, greet{}).ID
	r.waitFor(id, store.Succeeded)
	got := slices.DeleteFunc(d.read(), func(s string) bool { return s == "enqueued" }) // races with the start
	want := "started|outer before greet|inner before greet|own before greet|handler|own after|inner after|outer after|ended succeeded"
	if strings.Join(got, "|") != want {
		t.Errorf("got %s", strings.Join(got, "|"))
	}
	if !slices.Contains(d.read(), "enqueued") {
		t.Error("the hook Enqueued was not called")
	}
}

// EXE-02: a panic outside of the handler's body leaves the process alive. In
// middleware it is a failed attempt with value and stack; in a hook it is logged.
func TestPanicsInMiddlewareAndHooks_EXE02(t *testing.T) {
	t.Parallel()
	cfg := quickly()
	cfg.Hooks = jobs.Hooks{
		Enqueued: func([]jobs.EnqueueResult) { panic("in Enqueued") },
		Started:  func(context.Context, jobs.AttemptInfo) { panic("in Started") },
		Ended:    func(jobs.AttemptInfo, jobs.Verdict) { panic("in Ended") },
	}
	r := start(t, cfg, func(c *jobs.Client) {
		jobs.Handle(c, func(context.Context, *jobs.Job[greet]) error { return nil })
		jobs.Handle(c, func(context.Context, *jobs.Job[scarce]) error { return nil }, jobs.Retry(jobs.NoRetry()),
			jobs.Use(func(jobs.HandlerFunc) jobs.HandlerFunc {
				return func(context.Context, jobs.AttemptInfo) error { panic("in middleware") }
			}))
	})
	bad, good := enqueue(t, r.Client, scarce{}).ID, enqueue(t, r.Client, greet{}).ID
	r.waitFor(good, store.Succeeded)
	d := r.waitFor(bad, store.Failed)
	if !strings.Contains(string(d.History[0].Data), "panic: in middleware (string)") || !strings.Contains(string(d.History[0].Data), "middleware_test.go") {
		t.Errorf("data %s", d.History[0].Data)
	}
}

// EXE-08: a handler that ignores its ended context keeps its slot, is shown as
// stuck, and its job is never run a second time beside it.
func TestStuckHandlerIsMarked_EXE08(t *testing.T) {
	t.Parallel()
	release, runs := make(chan struct{}), make(chan int, 10)
	cfg := quickly()
	cfg.StopGrace = 50e6
	r := start(t, cfg, func(c *jobs.Client) {
		jobs.Handle(c, func(_ context.Context, j *jobs.Job[greet]) error {
			runs <- j.Attempt
			<-release
			return errors.New("gave up late")
		}, jobs.Timeout(50e6), jobs.Retry(jobs.NoRetry()))
	})
	id := enqueue(t, r.Client, greet{}).ID
	eventually(t, "the attempt is marked stuck", func() bool { return r.detail(id).StuckAt != nil })
	if d := r.detail(id); d.State != store.Processing || len(runs) != 1 {
		t.Errorf("%v, %d runs", d.State, len(runs))
	}
	close(release)
	d := r.waitFor(id, store.Failed)
	if d.StuckAt != nil || d.Attempt != 1 {
		t.Errorf("after its end: %+v", d.JobRow)
	}
}

func TestKindsKeepFinishedJobsAsTheySay(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	r := startOn(t, db, quickly(), func(c *jobs.Client) {
		jobs.Handle(c, func(context.Context, *jobs.Job[greet]) error { return nil }, jobs.Keep(jobs.Retention{Succeeded: 1e6}))
		jobs.Handle(c, func(context.Context, *jobs.Job[scarce]) error { return nil })
	})
	short, long := enqueue(t, r.Client, greet{}).ID, enqueue(t, r.Client, scarce{}).ID
	r.waitFor(short, store.Succeeded)
	r.waitFor(long, store.Succeeded)
	eventually(t, "the short-lived kind's job is gone", func() bool {
		_, err := db.Expire(t.Context(), store.Succeeded, 24*3600e9)
		_, gone := db.Job(t.Context(), short, 1, 0)
		return err == nil && errors.Is(gone, store.ErrNotFound)
	})
	if s := r.detail(long).State; s != store.Succeeded {
		t.Errorf("the other kind's job is %v", s)
	}
	r.stop()
}
