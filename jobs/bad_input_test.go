package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// refusedAs fails the test unless err names the field and, in its words, the limit.
func refusedAs(t *testing.T, err error, field, problem string) {
	t.Helper()
	var in *jobs.InputError
	if !errors.As(err, &in) || in.Field != field || !strings.Contains(in.Problem, problem) {
		t.Errorf("%v; want field %s and %q", err, field, problem)
	}
}

// A configuration that cannot work is refused by New, which names the field and
// the limit.
func TestConfigThatCannotWork(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, "postgres://nobody@127.0.0.1:1/none?sslmode=disable", store.Options{}) // New does not connect
	const forever = time.Duration(math.MaxInt64)
	for _, c := range []struct {
		field, problem string
		cfg            jobs.Config
	}{
		{"Config.Workers", "-1 is outside 1 to 10000", jobs.Config{Workers: -1}},
		{"Config.Workers", "10001 is outside 1 to 10000", jobs.Config{Workers: 10001}},
		{"Config.Lease", "-1s is outside 1s to 24h", jobs.Config{Lease: -time.Second}},
		{"Config.Lease", "1ms is outside 1s to 24h", jobs.Config{Lease: time.Millisecond}},
		{"Config.Lease", "is outside 1s to 24h", jobs.Config{Lease: forever}},
		{"Config.Heartbeat", "6s is outside 50ms to 5s", jobs.Config{Lease: 10 * time.Second, Heartbeat: 6 * time.Second}},
		{"Config.Heartbeat", "1ns is outside 50ms", jobs.Config{Heartbeat: 1}},
		{"Config.Sweep", "is outside 50ms to 24h", jobs.Config{Sweep: forever}},
		{"Config.Sweep", "-1s is outside 50ms to 24h", jobs.Config{Sweep: -time.Second}},
		{"Config.Poll", "1ns is outside 10ms to 1h", jobs.Config{Poll: 1}},
		{"Config.Poll", "-1s is outside 10ms to 1h", jobs.Config{Poll: -time.Second}},
		{"Config.Poll", "is outside 10ms to 1h", jobs.Config{Poll: forever}},
		{"Config.Timeout", "1µs is outside 1ms to 720h", jobs.Config{Timeout: time.Microsecond}},
		{"Config.Timeout", "-1s is outside 1ms to 720h", jobs.Config{Timeout: -time.Second}},
		{"Config.Timeout", "is outside 1ms to 720h", jobs.Config{Timeout: forever}},
		{"Config.StopGrace", "-1s is outside 0s to 1h", jobs.Config{StopGrace: -time.Second}},
		{"Config.StopGrace", "is outside 0s to 1h", jobs.Config{StopGrace: forever}},
		{"Config.LossLimit", "1001 is outside 0 to 1000", jobs.Config{LossLimit: 1001}},
		{"Config.MaxArgs", "-1 is outside 2 to 67108864", jobs.Config{MaxArgs: -1}},
		{"Config.MaxArgs", "is outside 2 to 67108864", jobs.Config{MaxArgs: math.MaxInt}},
		{"Config.Name", "control character", jobs.Config{Name: "a\x00b"}},
		{"Config.Name", "at most 200", jobs.Config{Name: strings.Repeat("n", 201)}},
		{"Config.Version", "UTF-8", jobs.Config{Version: "\xff"}},
		{"Config.Middleware[1]", "nil", jobs.Config{Middleware: []jobs.Middleware{func(next jobs.HandlerFunc) jobs.HandlerFunc { return next }, nil}}},
		{"Config.Queues", "is empty", jobs.Config{Queues: map[string]int{}}},
		{`Config.Queues[""]`, "is empty", jobs.Config{Queues: map[string]int{"": 0}}},
		{`Config.Queues["a"]`, "-1 is outside 0 to 10000", jobs.Config{Queues: map[string]int{"a": -1}}},
		{`Config.Queues["a"]`, "9 is outside 0 to 8 (Config.Workers)", jobs.Config{Workers: 8, Queues: map[string]int{"a": 9}}},
		{"Config.OtherQueues[1]", "is empty", jobs.Config{OtherQueues: []string{"a", ""}}},
		{`Config.QueueLimits["a"]`, "0 is outside 1 to 10000", jobs.Config{QueueLimits: map[string]int{"a": 0}}},
		{`Config.QueueLimits["a\nb"]`, "control character", jobs.Config{QueueLimits: map[string]int{"a\nb": 1}}},
		{"RetryPolicy.MaxRetries", "-1 is outside 0 to 100000", jobs.Config{Retry: jobs.RetryPolicy{MaxRetries: -1}}},
		{"RetryPolicy.Delays", "the list is empty", jobs.Config{Retry: jobs.RetryPolicy{MaxRetries: 1, Delays: []time.Duration{}}}},
		{"RetryPolicy.Delays[0]", "is outside 0 to 720h", jobs.Config{Retry: jobs.RetryPolicy{MaxRetries: 1, Delays: []time.Duration{forever}}}},
	} {
		_, err := jobs.New(db, c.cfg)
		refusedAs(t, err, c.field, c.problem)
	}
	for name, cfg := range map[string]jobs.Config{
		"the zero value":               {},
		"all at their least":           {Workers: 1, Lease: time.Second, Heartbeat: 50 * time.Millisecond, Sweep: 50 * time.Millisecond, Poll: 10 * time.Millisecond, Timeout: time.Millisecond, LossLimit: -5, MaxArgs: 2, DrainTimeout: -1},
		"all at their most":            {Workers: 10000, Lease: 24 * time.Hour, Heartbeat: 12 * time.Hour, Sweep: 24 * time.Hour, Poll: time.Hour, Timeout: jobs.MaxWait, StopGrace: time.Hour, LossLimit: 1000, MaxArgs: 64 << 20, DrainTimeout: forever, Retention: jobs.Retention{Succeeded: forever, Deleted: -1}},
		"a queue above the default":    {Queues: map[string]int{"a": 9000}},
		"a queue that is not its own":  {Queues: map[string]int{"a": 0}, OtherQueues: []string{"b"}, QueueLimits: map[string]int{"b": 1}},
		"the default queue not in it ": {Queues: map[string]int{"a": 0}},
	} {
		if _, err := jobs.New(db, cfg); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type pointed struct{ kind string }

func (p *pointed) Kind() string { return p.kind }

type nameless struct{}

func (nameless) Kind() string { return "" }

// A registration that cannot work is refused by Run, which starts nothing; each
// error names the kind, the field and the limit.
func TestRegistrationsThatCannotWork(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	retry := func(p jobs.RetryPolicy) func(*jobs.Client) { return on(nothing, jobs.Retry(p)) }
	const forever = time.Duration(math.MaxInt64)
	narrow := jobs.Config{Queues: map[string]int{"mail": 0}, OtherQueues: []string{"slow"}}
	for _, c := range []struct {
		name, whose, field, problem string
		cfg                         jobs.Config
		register                    func(*jobs.Client)
	}{
		{"two handlers", `kind "task"`, "kind", "two handlers", jobs.Config{}, func(c *jobs.Client) { on(nothing)(c); on(nothing)(c) }},
		{"no handler", `kind "task"`, "handler", "nil", jobs.Config{}, func(c *jobs.Client) { jobs.Handle[task](c, nil) }},
		{"no kind", `kind ""`, "kind", "1 to 200", jobs.Config{}, on(func(context.Context, *jobs.Job[nameless]) error { return nil })},
		{"a pointer's kind", `kind ""`, "kind", "*jobs_test.pointed", jobs.Config{}, on(func(context.Context, *jobs.Job[*pointed]) error { return nil })},
		{"no option", `kind "task"`, "opts[1]", "nil", jobs.Config{}, on(nothing, jobs.Timeout(time.Second), nil)},
		{"negative retries", `kind "task"`, "RetryPolicy.MaxRetries", "-1 is outside 0 to 100000", jobs.Config{}, retry(jobs.RetryPolicy{MaxRetries: -1})},
		{"retries without end", `kind "task"`, "RetryPolicy.MaxRetries", "is outside 0 to 100000", jobs.Config{}, retry(jobs.RetryPolicy{MaxRetries: math.MaxInt})},
		{"empty delays", `kind "task"`, "RetryPolicy.Delays", "at least 1 entry", jobs.Config{}, retry(jobs.RetryPolicy{Delays: []time.Duration{}})},
		{"negative delay", `kind "task"`, "RetryPolicy.Delays[1]", "-1s is outside 0 to 720h", jobs.Config{}, retry(jobs.RetryPolicy{Delays: []time.Duration{0, -time.Second}})},
		{"delays without end", `kind "task"`, "RetryPolicy.Delays", "at most 1000", jobs.Config{}, retry(jobs.RetryPolicy{Delays: make([]time.Duration, 1001)})},
		{"shrinking waits", `kind "task"`, "RetryPolicy.Backoff", "factor 0.5 is not a number of at least 1", jobs.Config{}, retry(jobs.RetryPolicy{Backoff: jobs.Exponential(time.Second, 0.5, time.Hour, 0)})},
		{"no matcher", `kind "task"`, "RetryPolicy.ExceptOn[0]", "zero Matcher", jobs.Config{}, retry(jobs.RetryPolicy{ExceptOn: []jobs.Matcher{{}}})},
		{"neither fail nor delete", `kind "task"`, "RetryPolicy.OnExceeded", "7 is neither", jobs.Config{}, retry(jobs.RetryPolicy{OnExceeded: 7})},
		{"timeout of none", `kind "task"`, "timeout", "0s is outside 1ms to 720h", jobs.Config{}, on(nothing, jobs.Timeout(0))},
		{"timeout without end", `kind "task"`, "timeout", "is outside 1ms to 720h", jobs.Config{}, on(nothing, jobs.Timeout(forever))},
		{"limit of none", `kind "task"`, "AtMost", "0 is outside 1 to 10000", jobs.Config{}, on(nothing, jobs.AtMost(0))},
		{"queue without a name", `kind "task"`, "queue", "1 to 200", jobs.Config{}, on(nothing, jobs.OnQueue(""))},
		{"middleware of none", `kind "task"`, "middleware", "nil", jobs.Config{}, on(nothing, jobs.Use(nil))},
		{"unknown queue of a kind", `kind "task"`, "queue", `"maisl" is in neither Config.Queues nor Config.OtherQueues`, narrow, on(nothing, jobs.OnQueue("maisl"))},
		{"other case", `kind "task"`, "queue", `"Mail" is in neither`, narrow, on(nothing, jobs.OnQueue("Mail"))},
		{"unknown queue of a recurring job", `recurring job "r"`, "queue", `"maisl" is in neither`, narrow, func(c *jobs.Client) { c.Recurring("r", "@hourly", task{}, jobs.OnRecurringQueue("maisl")) }},
		{"unknown queue of a limit", "client", `Config.QueueLimits["maisl"]`, "is in neither", jobs.Config{QueueLimits: map[string]int{"maisl": 1}}, on(nothing)},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cfg.Logger = slog.New(slog.DiscardHandler)
			client := newClient(t, db, c.cfg)
			c.register(client)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // it would run
			defer cancel()
			err := client.Run(ctx)
			refusedAs(t, err, c.field, c.problem)
			if err != nil && !strings.Contains(err.Error(), c.whose) {
				t.Errorf("%v does not say %s", err, c.whose)
			}
		})
	}
	same(t, 0, ask[int](t, db, `select count(*) from tekrar.servers`))
}

// Queues that other servers take jobs from can be named, a recurring job's own
// queue is served like a kind's, and what is registered too late waits for the next
// Run and harms nothing.
func TestRegistrationsThatWork(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	log := &loud{level: slog.LevelWarn}
	cfg := quickly()
	cfg.Queues, cfg.OtherQueues, cfg.Logger = map[string]int{"mail": 0}, []string{"slow"}, slogOf(log)
	r := startOn(t, db, cfg, func(c *jobs.Client) {
		jobs.Handle(c, nothing, jobs.OnQueue("mail"))
		jobs.Handle(c, func(context.Context, *jobs.Job[greet]) error { return nil }, jobs.OnQueue("slow"))
		jobs.Handle(c, func(context.Context, *jobs.Job[scarce]) error { return nil }) // "default" was not asked for by name
	})
	defer r.stop()
	r.waitFor(r.put(task{}), store.Succeeded)
	same(t, "{mail}", ask[string](t, db, `select queues::text from tekrar.servers`))
	jobs.Handle(r.Client, func(context.Context, *jobs.Job[badly]) error { return nil })
	late := r.put(badly{}, jobs.Queue("mail"))
	r.waitFor(r.put(task{}), store.Succeeded)
	same(t, store.Enqueued, r.detail(late).State)
	if !slices.ContainsFunc(log.said(), func(line string) bool { return strings.Contains(line, "while Run is active") }) {
		t.Errorf("nothing is said of it: %q", log.said())
	}
	r.stop()

	next := startOn(t, db, quickly(), func(c *jobs.Client) {
		jobs.Handle(c, nothing)
		c.Recurring("r", "* * * * * *", task{}, jobs.OnRecurringQueue("reports"))
	})
	defer next.stop()
	eventually(t, "a fire has run on its own queue", func() bool {
		return ask[int](t, db, `select count(*) from tekrar.history where state = 4 and queue = 'reports'`) > 0
	})
	next.stop()
	check(t, db)
}

// An enqueue without an option where one is said is refused, not a panic.
func TestEnqueueRefusesNilOption(t *testing.T) {
	t.Parallel()
	c := newClient(t, storetest.Open(t, "postgres://nobody@127.0.0.1:1/none?sslmode=disable", store.Options{}), quickly())
	_, err := c.Enqueue(t.Context(), task{}, jobs.Priority(1), nil)
	refusedAs(t, err, "opts[1]", "nil")
}
