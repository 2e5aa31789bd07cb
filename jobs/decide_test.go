package jobs

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
)

//lint:ignore ST1005,ST1012 the text of the article, and a plain error
var plain = errors.New("Supplier API did not respond in 10 s")

func TestDecideTable(t *testing.T) {
	t.Parallel()
	three := RetryPolicy{MaxRetries: 3, Delays: []time.Duration{2 * time.Second, 5 * time.Second, 10 * time.Second}}
	deletes := three
	deletes.OnExceeded = Delete
	excepts := deletes
	excepts.ExceptOn = []Matcher{Is(errHopeless)}
	both := three
	both.OnlyOn, both.ExceptOn = []Matcher{As[supplierError]()}, []Matcher{Is(errHopeless)}
	stop := fmt.Errorf("query: %w", context.Canceled)
	asked := &store.CancelRequest{By: "ada"}
	for _, c := range []struct {
		name    string
		res     result
		p       RetryPolicy
		c       counters
		state   store.State
		outcome store.Outcome
		delay   time.Duration
		via     bool
		reason  string
		rule    string
		next    counters
	}{
		{"success", result{}, three, counters{Attempt: 2, Retry: 1}, store.Succeeded, store.OutcomeSucceeded, 0, false, "", "", counters{Attempt: 2, Retry: 1}},
		{"success, late by the timeout", result{TimedOut: true}, three, counters{Attempt: 1}, store.Succeeded, store.OutcomeSucceeded, 0, false, "", "", counters{Attempt: 1}},
		{"retry", result{Err: plain}, three, counters{Attempt: 2, Retry: 1, Losses: 1, Snoozes: 4}, store.Scheduled, store.OutcomeRetried, 5 * time.Second, true, "Retry attempt 2 of 3: Supplier API did not respond in 10 s", "retry 2 of 3", counters{Attempt: 2, Retry: 2, Losses: 1, Snoozes: 4}},
		{"used up", result{Err: plain}, three, counters{Attempt: 4, Retry: 3}, store.Failed, store.OutcomeExhausted, 0, false, "An error occurred during attempt 4", "retry budget used up (3 of 3)", counters{Attempt: 4, Retry: 3}},
		{"no retries", result{Err: plain}, RetryPolicy{}, counters{Attempt: 1}, store.Failed, store.OutcomeExhausted, 0, false, "An error occurred during attempt 1", "no retries (MaxRetries is 0)", counters{Attempt: 1}},
		{"exceeded", result{Err: plain}, deletes, counters{Attempt: 4, Retry: 3}, store.Deleted, store.OutcomeExceeded, 0, true, "Exceeded the maximum number of retries", "retry budget used up (3 of 3), OnExceeded is Delete", counters{Attempt: 4, Retry: 3}},
		{"permanent beats delete", result{Err: fmt.Errorf("x: %w", Permanent(plain))}, deletes, counters{Attempt: 4, Retry: 3}, store.Failed, store.OutcomePermanent, 0, false, "An error occurred during attempt 4", "permanent error", counters{Attempt: 4, Retry: 3}},
		{"excluded beats delete", result{Err: fmt.Errorf("x: %w", errHopeless)}, excepts, counters{Attempt: 4, Retry: 3}, store.Failed, store.OutcomePermanent, 0, false, "An error occurred during attempt 4", `excluded by ExceptOn: Is("invoice is not valid")`, counters{Attempt: 4, Retry: 3}},
		{"both lists, both match", result{Err: errors.Join(supplierError{}, errHopeless)}, both, counters{Attempt: 1}, store.Failed, store.OutcomePermanent, 0, false, "An error occurred during attempt 1", `excluded by ExceptOn: Is("invoice is not valid")`, counters{Attempt: 1}},
		{"both lists, only matches", result{Err: supplierError{}}, both, counters{Attempt: 1}, store.Scheduled, store.OutcomeRetried, 2 * time.Second, true, "Retry attempt 1 of 3: supplier", "retry 1 of 3", counters{Attempt: 1, Retry: 1}},
		{"both lists, none matches", result{Err: plain}, both, counters{Attempt: 1}, store.Failed, store.OutcomePermanent, 0, false, "An error occurred during attempt 1", "not in OnlyOn", counters{Attempt: 1}},
		{"retry after", result{Err: RetryAfter(plain, time.Minute)}, three, counters{Attempt: 1}, store.Scheduled, store.OutcomeRetried, time.Minute, true, "Retry attempt 1 of 3: Supplier API did not respond in 10 s", "retry 1 of 3, wait set by RetryAfter", counters{Attempt: 1, Retry: 1}},
		{"retry after, absurd", result{Err: RetryAfter(plain, 1<<62)}, three, counters{Attempt: 1}, store.Scheduled, store.OutcomeRetried, MaxWait, true, "Retry attempt 1 of 3", "retry 1 of 3, wait", counters{Attempt: 1, Retry: 1}},
		{"retry after, at once", result{Err: RetryAfter(plain, -5)}, three, counters{Attempt: 1}, store.Enqueued, store.OutcomeRetried, 0, true, "Retry attempt 1 of 3", "retry 1 of 3, wait", counters{Attempt: 1, Retry: 1}},
		{"retry after uses the budget", result{Err: RetryAfter(plain, 1)}, three, counters{Attempt: 4, Retry: 3}, store.Failed, store.OutcomeExhausted, 0, false, "An error", "retry budget used up (3 of 3)", counters{Attempt: 4, Retry: 3}},
		{"retry after of a permanent error", result{Err: RetryAfter(Permanent(plain), 1)}, three, counters{Attempt: 1}, store.Failed, store.OutcomePermanent, 0, false, "An error", "permanent error", counters{Attempt: 1}},
		{"never early", result{Err: RetryAfter(plain, 1001)}, three, counters{Attempt: 1}, store.Scheduled, store.OutcomeRetried, 2 * time.Microsecond, true, "Retry", "retry", counters{Attempt: 1, Retry: 1}},
		{"snooze", result{Err: fmt.Errorf("busy: %w", Snooze(time.Hour))}, three, counters{Attempt: 3, Retry: 1}, store.Scheduled, store.OutcomeSnoozed, time.Hour, false, "Snoozed", "snoozed", counters{Attempt: 3, Retry: 1, Snoozes: 1}},
		{"EXE-06 snooze of no time", result{Err: Snooze(-1)}, three, counters{Attempt: 1}, store.Scheduled, store.OutcomeSnoozed, MinSnooze, false, "Snoozed", "snoozed", counters{Attempt: 1, Snoozes: 1}},
		{"last snooze", result{Err: Snooze(1)}, three, counters{Attempt: 1, Snoozes: MaxSnoozes - 1}, store.Scheduled, store.OutcomeSnoozed, MinSnooze, false, "Snoozed", "snoozed", counters{Attempt: 1, Snoozes: MaxSnoozes}},
		{"one snooze too many", result{Err: Snooze(1)}, three, counters{Attempt: 9, Snoozes: MaxSnoozes}, store.Failed, store.OutcomePermanent, 0, false, "An error occurred during attempt 9", "snoozed 10000 times, the limit", counters{Attempt: 9, Snoozes: MaxSnoozes}},
		{"cancel", result{Err: Cancel(errors.New("order withdrawn"))}, three, counters{Attempt: 1}, store.Deleted, store.OutcomeCancelled, 0, false, "Cancelled by its handler: order withdrawn", "cancelled by its handler", counters{Attempt: 1}},
		{"EXE-07 cancel without a reason", result{Err: Cancel(nil)}, three, counters{Attempt: 1}, store.Deleted, store.OutcomeCancelled, 0, false, "Cancelled by its handler", "cancelled by its handler", counters{Attempt: 1}},
		{"outermost mark counts", result{Err: Permanent(Cancel(plain))}, three, counters{Attempt: 1}, store.Failed, store.OutcomePermanent, 0, false, "An error", "permanent error", counters{Attempt: 1}},
		{"EXE-14 cancel asked, success", result{Asked: asked}, three, counters{Attempt: 2}, store.Succeeded, store.OutcomeSucceeded, 0, false, "", "", counters{Attempt: 2}},
		{"EXE-14 cancel asked, retry left", result{Err: plain, Asked: asked}, three, counters{Attempt: 2, Retry: 1}, store.Deleted, store.OutcomeCancelled, 0, false, "Cancelled by ada", "a cancel was requested", counters{Attempt: 2, Retry: 1}},
		{"EXE-14 cancel asked, permanent", result{Err: Permanent(plain), Asked: asked}, three, counters{Attempt: 1}, store.Deleted, store.OutcomeCancelled, 0, false, "Cancelled by ada", "a cancel was requested", counters{Attempt: 1}},
		{"EXE-14 cancel asked, snooze", result{Err: Snooze(1), Asked: asked}, three, counters{Attempt: 1}, store.Deleted, store.OutcomeCancelled, 0, false, "Cancelled by ada", "a cancel was requested", counters{Attempt: 1}},
		{"EXE-14 cancel asked, then shutdown", result{Err: stop, Cause: ErrShutdown, Asked: asked}, three, counters{Attempt: 1}, store.Deleted, store.OutcomeCancelled, 0, false, "Cancelled by ada", "a cancel was requested", counters{Attempt: 1}},
		{"row 53: cancelled by shutdown", result{Err: stop, Cause: ErrShutdown}, three, counters{Attempt: 2, Retry: 1}, store.Enqueued, store.OutcomeInterrupted, 0, false, "Interrupted by shutdown", "the server stopped", counters{Attempt: 2, Retry: 1}},
		{"shutdown hidden by a driver, OnlyOn set", result{Err: plain, Cause: ErrShutdown}, both, counters{Attempt: 1}, store.Enqueued, store.OutcomeInterrupted, 0, false, "Interrupted by shutdown", "the server stopped", counters{Attempt: 1}},
		{"hopeless during shutdown", result{Err: errHopeless, Cause: ErrShutdown}, excepts, counters{Attempt: 1}, store.Failed, store.OutcomePermanent, 0, false, "An error", "excluded", counters{Attempt: 1}},
		{"panic during shutdown", result{Err: plain, Panicked: true, Cause: ErrShutdown}, three, counters{Attempt: 1}, store.Scheduled, store.OutcomeRetried, 2 * time.Second, true, "Retry attempt 1 of 3", "retry 1 of 3", counters{Attempt: 1, Retry: 1}},
		{"row 54: cancelled otherwise", result{Err: stop}, RetryPolicy{}, counters{Attempt: 1}, store.Failed, store.OutcomeExhausted, 0, false, "An error", "no retries", counters{Attempt: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := decide(c.res, c.p, c.c, zero)
			if d.State != c.state || d.Outcome != c.outcome || d.Delay != c.delay || d.ViaFailed != c.via || d.Next != c.next {
				t.Errorf("%v outcome %d delay %v via failed %v next %+v", d.State, d.Outcome, d.Delay, d.ViaFailed, d.Next)
			}
			if !strings.HasPrefix(d.Reason, c.reason) || !strings.HasPrefix(d.Rule, c.rule) {
				t.Errorf("reason %q, rule %q", d.Reason, d.Rule)
			}
			wrote := fmt.Sprintf("An error occurred during attempt %d", c.c.Attempt)
			if failedRow := d.ViaFailed || d.State == store.Failed; failedRow != (d.FailedReason == wrote) {
				t.Errorf("failed row's reason %q", d.FailedReason)
			}
		})
	}
}

// RTY-02: three retries are four runs.
func TestRTY02FourRunsThreeRetries(t *testing.T) {
	t.Parallel()
	p := RetryPolicy{MaxRetries: 3, Delays: []time.Duration{2 * time.Second, 5 * time.Second, 10 * time.Second}}
	c, runs, waits := counters{}, 0, []string{}
	for {
		runs++
		c.Attempt++
		d := decide(result{Err: plain}, p, c, zero)
		if c = d.Next; d.State == store.Failed {
			break
		}
		waits = append(waits, d.Delay.String()+" "+d.Reason[:len("Retry attempt 1 of 3")])
	}
	want := "2s Retry attempt 1 of 3, 5s Retry attempt 2 of 3, 10s Retry attempt 3 of 3"
	if got := strings.Join(waits, ", "); runs != 4 || got != want {
		t.Errorf("%d runs: %s", runs, got)
	}
}

func TestDecideErrorTexts(t *testing.T) {
	t.Parallel()
	var nilStruct *struct{ error }
	for _, c := range []struct {
		name, typ, text string
		res             result
	}{
		{"plain", "error", "x", result{Err: errors.New("x")}},
		{"no message", "error", "(no message)", result{Err: errors.New("")}},
		{"typed inside", "jobs.supplierError", "a: supplier", result{Err: Permanent(fmt.Errorf("a: %w", supplierError{}))}},
		{"context", "context.Canceled", "context canceled: " + ErrDeleted.Error(), result{Err: context.Canceled, Cause: ErrDeleted}},
		{"context, no cause told", "context.Canceled", "context canceled", result{Err: context.Canceled, Cause: context.Canceled}},
		{"timeout", "context.DeadlineExceeded", "timed out after 5s", result{Err: context.DeadlineExceeded, TimedOut: true, Timeout: 5 * time.Second}},
		{"timeout, own words", "context.DeadlineExceeded", "API: context deadline exceeded", result{Err: fmt.Errorf("API: %w", context.DeadlineExceeded), TimedOut: true}},
		{"EXE-01 Goexit", "runtime.Goexit", ErrGoexit.Error(), goexitResult(nil)},
		{"EXE-01 panic(nil)", "panic", "panic: nil (*runtime.PanicNilError)", panicResult(new(runtime.PanicNilError), nil)},
		{"EXE-01 recovered nil", "panic", "panic: nil (nil)", panicResult(nil, nil)},
		{"EXE-01 panic(struct{}{})", "panic", "panic: {} (struct {})", panicResult(struct{}{}, nil)},
		{"EXE-02 panic(string)", "panic", "panic: boom (string)", panicResult("boom", nil)},
		{"panic, flags only", "panic", "panic: nil (nil)", result{Panicked: true}},
		{"Goexit, flags only", "runtime.Goexit", ErrGoexit.Error(), result{Goexit: true}},
		{"Error panics", "*jobs.bombError", "the Error method panicked (error of type *jobs.bombError)", result{Err: &bombError{}}},
		{"nil pointer", "*struct { error }", "the Error method panicked (error of type *struct { error })", result{Err: nilStruct}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := decide(c.res, RetryPolicy{}, counters{Attempt: 1}, zero)
			if d.State != store.Failed || d.ErrorType != c.typ || d.ErrorText != c.text {
				t.Errorf("%v %q %q, want %q %q", d.State, d.ErrorType, d.ErrorText, c.typ, c.text)
			}
		})
	}
}

func TestPanicValues(t *testing.T) {
	t.Parallel()
	self := map[string]any{}
	self["self"] = self
	if got := describe(self); got != "a value of type map[string]interface {}" {
		t.Errorf("a map that holds itself: %q", got)
	}
	type tree []tree
	if got := describe(tree{{}}); got != "a value of type jobs.tree" {
		t.Errorf("a type that holds itself: %q", got)
	}
	res := panicResult(fmt.Errorf("x: %w", errHopeless), nil)
	p := RetryPolicy{MaxRetries: 1, ExceptOn: []Matcher{Is(errHopeless)}}
	if d := decide(res, p, counters{Attempt: 1}, zero); d.State != store.Failed {
		t.Errorf("a panic with an excluded error: %v", d.State)
	}
	p.ExceptOn = []Matcher{As[*PanicError]()}
	if d := decide(panicResult(1, nil), p, counters{Attempt: 1}, zero); d.State != store.Failed {
		t.Errorf("panics excluded by type: %v", d.State)
	}
}

func TestRetryReasonIsShortAndOnOneLine(t *testing.T) {
	t.Parallel()
	p := RetryPolicy{MaxRetries: 1}
	for text, want := range map[string]string{
		strings.Repeat("ş", 50): strings.Repeat("ş", 50),
		strings.Repeat("ş", 51): strings.Repeat("ş", 49) + "…",
		"\n  first \nsecond":    "first",
		"":                      "(no message)",
	} {
		d := decide(result{Err: errors.New(text)}, p, counters{Attempt: 1}, zero)
		if d.Reason != "Retry attempt 1 of 1: "+want {
			t.Errorf("%q: %q", text, d.Reason)
		}
	}
}

func TestMarksAroundNil(t *testing.T) {
	t.Parallel()
	if Permanent(nil) != nil || RetryAfter(nil, 1) != nil {
		t.Error("a mark around nil is an error")
	}
	if err := Cancel(nil); err == nil || err.Error() != "cancelled" || errors.Unwrap(err) != nil {
		t.Errorf("Cancel(nil): %v", err)
	}
	if !errors.Is(Permanent(RetryAfter(Cancel(errHopeless), 1)), errHopeless) {
		t.Error("marks hide the error inside")
	}
}

func TestFaultsOfMatchersAreReported(t *testing.T) {
	t.Parallel()
	sharp := MatchFunc("sharp", func(error) bool { panic("x") })
	p := RetryPolicy{MaxRetries: 1, ExceptOn: []Matcher{sharp}, OnlyOn: []Matcher{sharp, As[error]()}}
	d := decide(result{Err: plain}, p, counters{Attempt: 1}, zero)
	if d.State != store.Scheduled || len(d.Faults) != 2 {
		t.Errorf("%v, faults %q", d.State, d.Faults)
	}
}
