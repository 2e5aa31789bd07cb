package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tekrar/tekrar/store"
)

// Each hour of the eight days before holds its own number, so that a row too many or
// twice shows. Hours are kept as hours: the last two days would be minutes.
func TestAttemptPast(t *testing.T) {
	ctx, db := readSetup(t)
	execAll(t, db, `insert into tekrar.stats (minute, server, n, run_us, wait_us, outcome, attempt, bucket, queue, kind)
		select date_trunc('hour', now(), 'UTC') - h * interval '1 hour', 0, o.n * (h + 1), 0, 0, o.outcome, o.attempt, 0, 'q', 'k'
		from generate_series(0, 40 * 24) h cross join (values (1, 1, 9), (2, 1, 1), (1, 2, 1), (2, 2, 1), (6, 1, 50), (8, 1, 50)) o (outcome, attempt, n)`)
	for { // all in one clock hour
		var hour, after time.Time
		now := func(to *time.Time) {
			if err := db.Get(to, `select date_trunc('hour', now(), 'UTC')`); err != nil {
				t.Fatal(err)
			}
		}
		now(&hour)
		six, err := db.AttemptPast(ctx, 6*time.Hour, store.AttemptFilter{})
		day, err2 := db.AttemptPast(ctx, 24*time.Hour, store.AttemptFilter{Kind: "k", Queue: "q"})
		month, err3 := db.AttemptPast(ctx, 30*24*time.Hour, store.AttemptFilter{Queue: "q"})
		other, err4 := db.AttemptPast(ctx, 6*time.Hour, store.AttemptFilter{Kind: "other"})
		if now(&after); !after.Equal(hour) {
			continue
		}
		if err != nil || err2 != nil || err3 != nil || err4 != nil {
			t.Fatal(err, err2, err3, err4)
		}
		want := func(h int) store.AttemptHour {
			n := int64(h + 1)
			return store.AttemptHour{At: hour.Add(-time.Duration(h) * time.Hour), First: 10 * n, FirstOK: 9 * n}
		}
		var sixWant, dayWant, monthWant []store.AttemptHour
		for d := 7; d >= 1; d-- {
			for h := 6; h >= 0; h-- {
				sixWant = append(sixWant, want(d*24+h))
			}
		}
		for h := 24 * 8; h >= 1; h-- {
			dayWant = append(dayWant, want(h))
		}
		for h := 24 * 37; h >= 1; h-- {
			monthWant = append(monthWant, want(h))
		}
		same := cmpopts.EquateApproxTime(0)
		for name, d := range map[string]string{
			"6 h": cmp.Diff(sixWant, six.Hours, same), "24 h": cmp.Diff(dayWant, day.Hours, same), "30 d": cmp.Diff(monthWant, month.Hours, same), "other": cmp.Diff([]store.AttemptHour(nil), other.Hours),
		} {
			if d != "" {
				t.Errorf("%s (-want +got):\n%s", name, d)
			}
		}
		return
	}
}

// The hour that ended 24 hours ago, minute by minute.
func TestAttemptsOfYesterday(t *testing.T) {
	ctx, db := readSetup(t)
	for {
		execAll(t, db, `delete from tekrar.stats`, `insert into tekrar.stats (minute, server, n, run_us, wait_us, outcome, attempt, bucket, queue, kind)
			select date_trunc('minute', now()) - interval '24 hours' - m * interval '1 minute', 1, n, 0, 0, outcome, attempt, 0, 'q', 'k'
			from (values (-1, 1, 1, 1000), (0, 1, 1, 1), (59, 1, 1, 2), (60, 1, 1, 1000), (30, 2, 1, 4), (30, 3, 4, 8), (30, 4, 1, 16)) v (m, outcome, attempt, n)`)
		var written, read time.Time
		if err := db.Get(&written, `select max(minute) - interval '1 minute' + interval '24 hours' from tekrar.stats`); err != nil {
			t.Fatal(err)
		}
		p, err := db.AttemptPast(ctx, time.Hour, store.AttemptFilter{})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Get(&read, `select date_trunc('minute', now())`); err != nil {
			t.Fatal(err)
		}
		if !read.Equal(written) {
			continue
		}
		if y := p.Yesterday; y.First != 23 || y.FirstOK != 3 || y.Finished != 27 {
			t.Errorf("%+v", y)
		}
		return
	}
}

func TestAttemptKinds(t *testing.T) {
	ctx, db := readSetup(t)
	execAll(t, db, `insert into tekrar.stats (minute, server, n, run_us, wait_us, outcome, attempt, bucket, queue, kind)
		select date_trunc('minute', now()), 1, n, n * 1000, 0, outcome, attempt, 0, 'q', kind from (values
			('a', 1, 1, 10), ('a', 2, 1, 5), ('a', 1, 2, 2), ('a', 2, 2, 3), ('a', 2, 3, 1), ('a', 1, 3, 1), ('a', 3, 4, 1), ('a', 5, 5, 1), ('a', 4, 3, 1), ('a', 8, 1, 99),
			('b', 1, 1, 100)) v (kind, outcome, attempt, n)`)
	got, err := db.AttemptKinds(ctx, time.Hour, time.Minute, store.AttemptFilter{Queue: "q"})
	want := []store.AttemptKind{
		{Kind: "b", First: 100, FirstOK: 100, Attempts: 100, Run: 100 * time.Millisecond},
		{Kind: "a", First: 15, FirstOK: 10, Attempts: 25, Run: 25 * time.Millisecond, RetryRun: 10 * time.Millisecond, Late: 4, LateExhausted: 2},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	if got, err := db.AttemptKinds(ctx, time.Hour, time.Minute, store.AttemptFilter{Queue: "other"}); len(got) > 0 || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRetryDelay(t *testing.T) {
	ctx, db := readSetup(t)
	if r, err := db.RetryDelay(ctx, time.Hour, store.AttemptFilter{}); err != nil || r != (store.RetryDelay{}) {
		t.Errorf("%+v, %v", r, err)
	}
	// Ten jobs: 1 to 8 succeeded at once, 9 and 10 after failures, by 10 s and 30 s.
	execAll(t, db, `insert into tekrar.jobs (id, queue, kind, args) overriding system value select g, 'q', 'k', '{}' from generate_series(1, 10) g`,
		`insert into tekrar.history (job_id, at, attempt, state, queue, kind)
		 select 9, now() - interval '20 seconds', 1, 5, 'q', 'k' union all select 10, now() - interval '40 seconds', 1, 5, 'q', 'k' union all select 10, now() - interval '15 seconds', 2, 5, 'q', 'k'`,
		`insert into tekrar.history (job_id, at, attempt, state, queue, kind)
		 select g, now() - interval '10 seconds', case when g < 9 then 1 else g - 7 end, 4, 'q', 'k' from generate_series(1, 10) g`)
	r, err := db.RetryDelay(ctx, time.Hour, store.AttemptFilter{Kind: "k"})
	if err != nil || r.Looked != 10 || r.Retried != 2 || r.Since == nil || r.Median.Round(time.Second) != 20*time.Second || r.P95.Round(time.Second) != 29*time.Second {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := db.RetryDelay(ctx, 5*time.Second, store.AttemptFilter{Kind: "k"}); err != nil || r.Looked != 0 {
		t.Errorf("older than the span: %+v, %v", r, err)
	}
	if r, err := db.RetryDelay(ctx, time.Hour, store.AttemptFilter{Kind: "k", Queue: "other"}); err != nil || r.Looked != 0 {
		t.Errorf("another queue: %+v, %v", r, err)
	}
}
