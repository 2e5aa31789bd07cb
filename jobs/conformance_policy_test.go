package jobs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
)

// Rows 1 to 31 of Hangfire's own suite, as far as they speak of the policy.
// Rows 27 to 31 name a set of retries; here that set is the scheduled jobs
// whose cause is a retry.

type baseError interface {
	error
	base()
}
type supplierError struct{ code int }

func (supplierError) Error() string { return "supplier" }
func (supplierError) base()         {}

func zero() float64 { return 0 }
func top() float64  { return 0.9999 }

func TestConformanceConfiguration(t *testing.T) {
	t.Parallel()
	if got := DefaultRetry().MaxRetries; got != 10 {
		t.Errorf("row 1: default retries %d, want 10", got)
	}
	if got := DefaultRetry().OnExceeded; got != Fail {
		t.Errorf("row 6: default OnExceeded %v, want fail", got)
	}
	if err := (RetryPolicy{MaxRetries: 1, Delays: nil}).Validate(); err != nil {
		t.Errorf("row 7: nil delays refused: %v", err)
	}
	for _, c := range []struct {
		row   int
		p     RetryPolicy
		field string
	}{
		{2, RetryPolicy{MaxRetries: -1}, "RetryPolicy.MaxRetries: -1 is outside 0 to 100000"},
		{3, RetryPolicy{Delays: []time.Duration{}}, "RetryPolicy.Delays: the list is empty"},
		{4, RetryPolicy{Delays: []time.Duration{1, -1}}, "RetryPolicy.Delays[1]: -1ns is outside 0 to 720h"},
		{5, RetryPolicy{Backoff: Func(nil)}, "RetryPolicy.Backoff: Func(nil)"},
	} {
		err := c.p.Validate()
		var in *InputError
		if !errors.As(err, &in) || !strings.HasPrefix(err.Error(), c.field) {
			t.Errorf("row %d: %v, want it to start with %q", c.row, err, c.field)
		}
	}
}

func TestConformanceWaits(t *testing.T) {
	t.Parallel()
	list := RetryPolicy{MaxRetries: 9, Delays: []time.Duration{5 * time.Second, 8 * time.Second}}
	if a, b := list.Wait(1, nil, zero), list.Wait(2, nil, zero); a != 5*time.Second || b != 8*time.Second {
		t.Errorf("row 8: %v, %v, want 5s, 8s", a, b)
	}
	mod := Func(func(n int, _ error) time.Duration { return time.Duration(n%3) * time.Second })
	var got []int
	for _, n := range []int{1, 2, 3, 4, 5, 100} {
		got = append(got, int(RetryPolicy{Backoff: mod}.Wait(n, nil, zero).Seconds()))
	}
	if want := []int{1, 2, 0, 1, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("row 9: %v, want %v", got, want)
	}
	// Row 10, decided otherwise: a job must be settled, so the formula steps in.
	d := decide(result{Err: errors.New("x")}, RetryPolicy{MaxRetries: 1, Backoff: Func(func(int, error) time.Duration { panic("bad") })}, counters{Attempt: 1}, zero)
	if d.Delay != 15*time.Second || len(d.Faults) != 1 || !strings.Contains(d.Faults[0], "bad") {
		t.Errorf("row 10: %v %v, want 15s and the fault", d.Delay, d.Faults)
	}
	both := RetryPolicy{MaxRetries: 1, Delays: []time.Duration{0}, Backoff: Fixed(time.Hour)}
	if d := decide(result{Err: errors.New("x")}, both, counters{Attempt: 1}, zero); d.State != store.Enqueued {
		t.Errorf("row 11: %v, want enqueued", d.State)
	}
}

func TestConformanceDecisions(t *testing.T) {
	t.Parallel()
	err := error(supplierError{1})
	other := errors.New("other")
	now := []time.Duration{0}
	for _, c := range []struct {
		row    int
		name   string
		res    result
		p      RetryPolicy
		retry  int
		state  store.State
		reason string
	}{
		{12, "no retries", result{Err: err}, RetryPolicy{}, 0, store.Failed, "An error occurred during attempt 1"},
		{13, "first failure", result{Err: err}, RetryPolicy{MaxRetries: 1}, 0, store.Scheduled, "Retry attempt 1 of 1: supplier"},
		{14, "delay 0", result{Err: err}, RetryPolicy{MaxRetries: 1, Delays: now}, 0, store.Enqueued, "Retry attempt 1 of 1: supplier"},
		{15, "not failed", result{}, RetryPolicy{MaxRetries: 1}, 0, store.Succeeded, ""},
		{16, "used up", result{Err: err}, RetryPolicy{MaxRetries: 1}, 1, store.Failed, "An error occurred"},
		{17, "exceeded, delete", result{Err: err}, RetryPolicy{MaxRetries: 1, OnExceeded: Delete}, 1, store.Deleted, "Exceeded the maximum number of retries"},
		{18, "exceeded, fail", result{Err: err}, RetryPolicy{MaxRetries: 1, OnExceeded: Fail}, 1, store.Failed, "An error occurred"},
		{19, "no retries, delete", result{Err: err}, RetryPolicy{OnExceeded: Delete}, 0, store.Deleted, "Exceeded the maximum number of retries"},
		{20, "only, mismatch", result{Err: other}, RetryPolicy{MaxRetries: 1, OnlyOn: []Matcher{As[supplierError]()}}, 0, store.Failed, "An error occurred"},
		{21, "only, empty", result{Err: err}, RetryPolicy{MaxRetries: 1, OnlyOn: []Matcher{}}, 0, store.Scheduled, "Retry attempt 1 of 1"},
		{22, "only, exact", result{Err: err}, RetryPolicy{MaxRetries: 1, OnlyOn: []Matcher{As[supplierError]()}}, 0, store.Scheduled, "Retry attempt 1 of 1"},
		{23, "only, subtype", result{Err: err}, RetryPolicy{MaxRetries: 1, OnlyOn: []Matcher{As[baseError]()}}, 0, store.Scheduled, "Retry attempt 1 of 1"},
		{24, "except, mismatch", result{Err: other}, RetryPolicy{MaxRetries: 1, ExceptOn: []Matcher{As[supplierError]()}}, 0, store.Scheduled, "Retry attempt 1 of 1"},
		{25, "except, match", result{Err: err}, RetryPolicy{MaxRetries: 1, ExceptOn: []Matcher{As[supplierError]()}}, 0, store.Failed, "An error occurred"},
		{26, "except, subtype", result{Err: err}, RetryPolicy{MaxRetries: 1, ExceptOn: []Matcher{As[baseError]()}}, 0, store.Failed, "An error occurred"},
	} {
		t.Run(fmt.Sprintf("row %d %s", c.row, c.name), func(t *testing.T) {
			d := decide(c.res, c.p, counters{Attempt: c.retry + 1, Retry: c.retry}, zero)
			if d.State != c.state || !strings.HasPrefix(d.Reason, c.reason) {
				t.Errorf("%v %q, want %v %q", d.State, d.Reason, c.state, c.reason)
			}
			// Rows 27 to 30: only a scheduled retry counts as one.
			if retrying := d.Cause == store.CauseRetry; retrying != (c.state == store.Scheduled) {
				t.Errorf("rows 27-30: cause %v in state %v", d.Cause, d.State)
			}
			if c.state == store.Scheduled && d.Delay <= 0 {
				t.Errorf("not due in the future: %v", d.Delay)
			}
			// Row 31: statistics see the outcome after the retry was decided.
			if want := c.state == store.Succeeded; want != (d.Outcome == store.OutcomeSucceeded) || d.Outcome == 0 {
				t.Errorf("row 31: outcome %v in state %v", d.Outcome, d.State)
			}
		})
	}
}
