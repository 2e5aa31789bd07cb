package views

import (
	"strings"
	"testing"
	"time"
)

func TestCeilingIsRoundAndHighEnough(t *testing.T) {
	t.Parallel()
	for n := int64(0); n < 200_000; n += 1 + n/37 {
		got := ceiling(ChartProps{Buckets: []Bucket{{ByAttempt: [4]int64{n}}}})
		if got < n || got%2 != 0 || (n > 4 && got > 2*n) {
			t.Fatalf("%d: ceiling %d", n, got)
		}
	}
}

func TestBarsStackToTheirTotal(t *testing.T) {
	t.Parallel()
	p := ChartProps{Buckets: []Bucket{{ByAttempt: [4]int64{6, 2, 0, 0}, Exhausted: 1, Permanent: 1}, {}, {ByAttempt: [4]int64{5}}}}
	got := bars(p)
	want := [6]string{"M1 40h8v60h-8zM21 50h8v50h-8z", "M1 20h8v20h-8z", "", "", "M1 10h8v10h-8z", "M1 0h8v10h-8z"}
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p.Scale = ScaleShare
	if got := bars(p); got[0] != "M1 40h8v60h-8zM21 0h8v100h-8z" {
		t.Errorf("share: %q", got[0])
	}
}

func TestRateLineLeavesGaps(t *testing.T) {
	t.Parallel()
	p := ChartProps{Buckets: []Bucket{{First: 2, FirstOK: 2}, {First: 2, FirstOK: 1}, {}, {First: 1}}}
	if got := rateLine(p); got != "M0 1h10L10 20h10M30 39h10" {
		t.Errorf("got %s", got)
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	p := ChartProps{Span: 6 * time.Hour, Buckets: []Bucket{{ByAttempt: [4]int64{90, 6, 3, 1}, Exhausted: 2, Permanent: 1}}}
	want := "In the last 6 h 100 jobs succeeded, 90.0 % at the first attempt, 6.0 % at the second attempt, 3.0 % at the third attempt and 1.0 % at a later attempt; 3 failed for good (2 with retries used up, 1 not retryable)."
	if got := summary(p); got != want {
		t.Errorf("got %s", got)
	}
	if got := summary(ChartProps{Span: time.Hour}); got != "Nothing finished in the last 1 h." {
		t.Errorf("got %s", got)
	}
}

func TestChartsWithoutBucketsDraw(t *testing.T) {
	t.Parallel()
	for _, p := range []ChartProps{{}, {Buckets: []Bucket{{}}}, {Scale: ScaleShare, Buckets: []Bucket{{}}}} {
		if d := bars(p); strings.Contains(strings.Join(d[:], ""), "NaN") || strings.Contains(rateLine(p), "NaN") {
			t.Error("a path has NaN")
		}
		_, _ = ticks(p), gridLines(p, plotH)
	}
}

func TestAttemptsAreReadFromHistory(t *testing.T) {
	t.Parallel()
	t0 := time.Date(2026, 3, 14, 15, 0, 0, 0, time.UTC)
	row := func(s int, state State, attempt int, reason string) HistoryProps {
		return HistoryProps{At: t0.Add(time.Duration(s) * time.Second), State: state, Attempt: attempt, Reason: reason, Server: "s"}
	}
	got := attempts([]HistoryProps{ // newest first
		row(60, Late, 3, ""), row(50, Deleted, 4, ""), row(40, Processing, 4, ""), row(31, Enqueued, 3, "Server s lost"), row(30, Processing, 3, ""),
		row(25, Enqueued, 2, "Interrupted by shutdown"), row(20, Processing, 2, ""),
		row(12, Enqueued, 1, ""), row(10, Scheduled, 1, "Retry attempt 1 of 3: x"), row(10, Failed, 1, ""), row(5, Processing, 1, ""), row(0, Enqueued, 0, ""),
	})
	want := []string{"4 deleted 10.0 s", "3 server lost 1.00 s late", "2 given back 5.00 s", "1 failed, retried 5.00 s"}
	if len(got) != len(want) {
		t.Fatalf("%d lines: %+v", len(got), got)
	}
	for i, a := range got {
		s := number(int64(a.n)) + " " + a.outcome + " " + optional(a.ran)
		if a.late {
			s += " late"
		}
		if s != want[i] {
			t.Errorf("line %d: %q, want %q", i, s, want[i])
		}
	}
}
