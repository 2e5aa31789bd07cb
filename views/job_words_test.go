package views

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// An attempt is compared with the first one shown that failed for the same reason.
func TestSameErrorAsAnEarlierAttempt(t *testing.T) {
	t.Parallel()
	var rows []HistoryProps
	for i, failure := range []int64{7, 8, 7, 0, 8, 7} {
		rows = append([]HistoryProps{{State: Failed, Attempt: i + 1, Failure: failure}, {State: Processing, Attempt: i + 1}}, rows...)
	}
	var got []int
	for _, a := range attempts(rows) {
		got = append(got, a.sameAs)
	}
	if want := "[1 2 0 1 0 0]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// What became of a request to cancel is said while the handler runs and after.
func TestCancelIsFollowedToItsEnd(t *testing.T) {
	t.Parallel()
	t0 := time.Date(2026, 3, 14, 15, 0, 0, 0, time.UTC)
	asked, took := &CancelProps{At: t0, By: "ada"}, 9*time.Second
	job := func(s State, h HistoryProps) JobProps {
		h.State, h.At = s, t0.Add(1500*time.Millisecond)
		return JobProps{JobRowProps: JobRowProps{State: s}, History: []HistoryProps{h}}
	}
	for text, p := range map[string]JobProps{
		"heeded: the handler returned 1.50 s after": job(Deleted, HistoryProps{Cancel: asked, Duration: &took}),
		"too late": job(Succeeded, HistoryProps{Cancel: asked, Duration: &took}),
	} {
		if got := cancelHeeded(nil, p); !strings.Contains(got, text) || !strings.Contains(got, "ada") {
			t.Errorf("%q has no %q", got, text)
		}
	}
	lost := job(Deleted, HistoryProps{Cancel: asked}) // with its server: no handler returned
	if got := cancelHeeded(nil, lost) + cancelHeeded(nil, job(Failed, HistoryProps{Duration: &took})) + cancelHeeded(nil, JobProps{}); got != "" {
		t.Errorf("%q", got)
	}
}
