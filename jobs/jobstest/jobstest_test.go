package jobstest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/jobstest"
	"github.com/tekrar/tekrar/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Run(m)) }

type mail struct {
	To string `json:"to"`
}

func (mail) Kind() string { return "mail" }

func TestRunJudgesAsTheEngineDoes(t *testing.T) {
	t.Parallel()
	policy := jobs.RetryPolicy{MaxRetries: 2, Delays: []time.Duration{2 * time.Second, 5 * time.Second}}
	failing := func(context.Context, *jobs.Job[mail]) error { return errors.New("mailbox full") }
	for _, c := range []struct {
		name   string
		fn     func(context.Context, *jobs.Job[mail]) error
		opts   []jobstest.Option
		state  jobs.State
		wait   time.Duration
		reason string
	}{
		{"success", func(_ context.Context, j *jobs.Job[mail]) error {
			j.Log("to %s", j.Args.To)
			return j.SetResult(j.Attempt)
		}, []jobstest.Option{jobstest.Attempt(3)}, jobs.Succeeded, 0, ""},
		{"first failure", failing, nil, jobs.Scheduled, 2 * time.Second, "Retry attempt 1 of 2: mailbox full"},
		{"second failure", failing, []jobstest.Option{jobstest.Attempt(2)}, jobs.Scheduled, 5 * time.Second, "Retry attempt 2 of 2: mailbox full"},
		{"last failure", failing, []jobstest.Option{jobstest.Attempt(3)}, jobs.Failed, 0, "An error occurred during attempt 3"},
		{"panic", func(context.Context, *jobs.Job[mail]) error { panic("oops") }, nil, jobs.Scheduled, 2 * time.Second, "Retry attempt 1 of 2: panic: oops (string)"},
		{"goexit", func(context.Context, *jobs.Job[mail]) error { runtime.Goexit(); return nil }, nil, jobs.Scheduled, 2 * time.Second, ""},
		{"timeout", func(ctx context.Context, _ *jobs.Job[mail]) error { <-ctx.Done(); return ctx.Err() },
			[]jobstest.Option{jobstest.Timeout(time.Millisecond)}, jobs.Scheduled, 2 * time.Second, "Retry attempt 1 of 2: timed out after 1ms"},
	} {
		v := jobstest.Run(t, c.fn, mail{To: "ada@example.org"}, append(c.opts, jobstest.Policy(policy))...)
		if v.State != c.state || v.Wait != c.wait || (c.reason != "" && v.Reason != c.reason) {
			t.Errorf("%s: %+v", c.name, v)
		}
		if c.name == "success" && (strings.Join(v.Log, "|") != "to ada@example.org" || v.Result != `{"result":3}` || v.Err != nil) {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
}

func TestRequireEnqueuedSeesTheTransactionAndTheWait(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	c, err := jobs.New(db, jobs.Config{})
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for _, to := range []string{"ada", "grace"} {
		if _, err := c.EnqueueTx(t.Context(), tx, mail{To: to}, jobs.In(time.Hour), jobs.Priority(2)); err != nil {
			t.Fatal(err)
		}
	}
	f := jobstest.RequireEnqueued(t, db, tx, func(m mail) bool { return m.To == "ada" })
	if f.State != jobs.Scheduled || f.Wait < 59*time.Minute || f.Wait > time.Hour || f.Priority != 2 || f.Queue != jobs.DefaultQueue {
		t.Errorf("%+v", f)
	}
	child, err := c.EnqueueTx(t.Context(), tx, mail{To: "joan"}, jobs.After(f.ID, jobs.OnSuccess))
	if err != nil {
		t.Fatal(err)
	}
	if a := jobstest.RequireEnqueued(t, db, tx, func(m mail) bool { return m.To == "joan" }); a.ID != child.ID || a.State != jobs.Awaiting || a.Parent != f.ID || a.Wait != 0 {
		t.Errorf("%+v", a)
	}
	jobstest.RequireNotEnqueued(t, db, tx, func(m mail) bool { return m.To == "nobody" })
	jobstest.RequireNotEnqueued[mail](t, db, db, nil) // not committed: nobody else sees it
	spy := &fatal{TB: t}
	func() {
		defer func() { _ = recover() }()
		jobstest.RequireEnqueued(spy, db, tx, func(m mail) bool { return false })
	}()
	if !strings.Contains(spy.said, `"mail"`) || !strings.Contains(spy.said, "3 others") {
		t.Errorf("without a match it says %q", spy.said)
	}
}

// fatal notes what a helper says instead of ending the test.
type fatal struct {
	testing.TB
	said string
}

func (f *fatal) Fatalf(format string, args ...any) {
	f.said = fmt.Sprintf(format, args...)
	panic(f)
}
