package views

import (
	"strconv"
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

// The band is held within its box, the baseline has gaps of its own, and the floor
// leaves room for it.
func TestBandAndBaseline(t *testing.T) {
	t.Parallel()
	p := ChartProps{Buckets: []Bucket{
		{First: 100, FirstOK: 98, Rate: RateProps{Low: 0.93, High: 0.995}}, {First: 10, FirstOK: 9, Rate: RateProps{Low: 0.2, High: 0.98, Baseline: 0.95}}, {Rate: RateProps{High: 1, Baseline: 0.9}},
	}}
	if got := rateBand(p); got != "M0 2.9h10v24.7h-10zM10 8.6h10v30.4h-10z" {
		t.Errorf("band %s", got)
	}
	if got := baselineLine(p); got != "M10 20h10L20 39h10" {
		t.Errorf("baseline %s", got)
	}
	p.Buckets[2].Rate.Baseline = 0.7
	if got := rateFloor(p); got != 50 {
		t.Errorf("floor %d", got)
	}
}

// A part of a bar leads to its own jobs: minutes, series, filters.
func TestSegmentsLeadToTheirJobs(t *testing.T) {
	t.Parallel()
	p := ChartProps{Span: 6 * time.Hour, Width: 5 * time.Minute, Kind: "k", Queue: "a b", Buckets: []Bucket{
		{At: time.Date(2026, 3, 14, 15, 55, 0, 0, time.UTC), ByAttempt: [4]int64{6, 0, 0, 2}, Exhausted: 1, Permanent: 1}}}
	const at = "&q=finished%3E2026-03-14T15%3A55+finished%3C2026-03-14T16%3A00+"
	want := []string{
		"/jobs?state=succeeded&queue=a+b&kind=k" + at + "attempt%3A1", "/jobs?state=succeeded&queue=a+b&kind=k" + at + "attempt%3E3",
		"/jobs?state=failed&queue=a+b&kind=k" + at + "outcome%3Aexhausted", "/jobs?state=failed&queue=a+b&kind=k" + at + "outcome%3Apermanent",
	}
	got := segments(Layout{}, p)
	if len(got) != len(want) {
		t.Fatalf("%d segments: %+v", len(got), got)
	}
	for i, s := range got {
		if s.href != want[i] {
			t.Errorf("got %s, want %s", s.href, want[i])
		}
	}
	if got[0].y != "40" || got[0].h != "60" || got[0].title != "15:55–16:00: 6 1st attempt of 10 finished" {
		t.Errorf("%+v", got[0])
	}
}

func TestRetryCostsInWords(t *testing.T) {
	t.Parallel()
	w := WorkProps{Kinds: []KindWorkProps{{First: 100, Attempts: 118, Run: time.Minute, RetryRun: 6 * time.Second}, {First: 100, Attempts: 102, Run: time.Minute}},
		Looked: 150, Retried: 10, Median: 31 * time.Second, P95: 5 * time.Minute}
	if got := workWords(nil, w); got != "220 attempts for 200 jobs begun, 1.10 a job; retries took 5.0 % of the run time (6.00 s of 2 min 0 s)." {
		t.Error(got)
	}
	if got := delayWords(nil, w); got != "10 jobs succeeded after a failure, later than that by 31.0 s in the median, 5 min 0 s at the 95th percentile." {
		t.Error(got)
	}
	if got := warningText(nil, WarningProps{Since: time.Date(2026, 3, 14, 15, 55, 0, 0, time.UTC), Began: true, First: 60, FirstOK: 48, Baseline: 0.98}); got !=
		"First attempts succeed less often than usual since 15:55 UTC: 80.0 % of 60 lately; usual are 98.0 %." {
		t.Error(got)
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	p := ChartProps{Span: 6 * time.Hour, Buckets: []Bucket{{ByAttempt: [4]int64{90, 6, 3, 1}, Exhausted: 2, Permanent: 1}}}
	want := "In the last 6 h 100 jobs succeeded, 90.0 % at the first attempt, 6.0 % at the second attempt, 3.0 % at the third attempt and 1.0 % at a later attempt; 3 failed for good (2 with retries used up, 1 not retryable)."
	if got := summary(nil, p); got != want {
		t.Errorf("got %s", got)
	}
	if got := summary(nil, ChartProps{Span: time.Hour}); got != "Nothing finished in the last 1 h." {
		t.Errorf("got %s", got)
	}
}

func TestChartsWithoutBucketsDraw(t *testing.T) {
	t.Parallel()
	for _, p := range []ChartProps{{}, {Buckets: []Bucket{{}}}, {Scale: ScaleShare, Buckets: []Bucket{{}}}} {
		if d := bars(p); strings.Contains(strings.Join(d[:], ""), "NaN") || strings.Contains(rateLine(p), "NaN") {
			t.Error("a path has NaN")
		}
		_, _ = ticks(nil, p), gridLines(p, plotH)
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
		s := strconv.Itoa(a.n) + " " + a.outcome + " " + optional(nil, a.ran)
		if a.late {
			s += " late"
		}
		if s != want[i] {
			t.Errorf("line %d: %q, want %q", i, s, want[i])
		}
	}
}
