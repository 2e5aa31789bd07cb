package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tekrar/tekrar/store"
)

func TestAttempts(t *testing.T) {
	ctx, db := readSetup(t)
	execAll(t, db, `insert into tekrar.stats (minute, server, n, run_us, wait_us, outcome, attempt, bucket, queue, kind)
		select date_bin('5 min', now(), '2000-01-01Z') - age, 1, n, 0, 0, outcome, attempt, 0, queue, kind from (values
			(interval '0',      5, 1, 1, 'q', 'k'), ('0', 7, 1, 2, 'q', 'k'), ('0', 11, 1, 3, 'q', 'k'), ('0', 13, 1, 4, 'q', 'k'),
			('0', 17, 1, 20, 'q', 'k'), ('0', 2, 2, 1, 'q', 'k'), ('0', 3, 3, 11, 'q', 'k'), ('0', 4, 4, 1, 'q', 'k'),
			('0', 19, 5, 2, 'q', 'k'), ('0', 100, 6, 1, 'q', 'k'), ('0', 100, 7, 1, 'q', 'k'), ('0', 100, 8, 1, 'q', 'k'), ('0', 100, 9, 1, 'q', 'k'),
			('1 min', 1, 1, 1, 'q', 'other'), ('5 min', 2, 1, 1, 'other', 'k'), ('6 min', 9, 1, 1, 'q', 'k'),
			('15 min', 3, 1, 1, 'q', 'k'), ('16 min', 999, 1, 1, 'q', 'k')
		) v (age, n, outcome, attempt, queue, kind)`)
	read := func(kind, queue string) []store.AttemptBucket {
		t.Helper()
		for { // all in one bucket's time, even when the test runs over its end
			var now time.Time
			if err := db.Get(&now, `select date_bin('5 min', now(), '2000-01-01Z')`); err != nil {
				t.Fatal(err)
			}
			b, err := db.Attempts(ctx, 20*time.Minute, 5*time.Minute, store.AttemptFilter{Kind: kind, Queue: queue})
			if err != nil || len(b) != 4 {
				t.Fatalf("%d buckets, %v", len(b), err)
			}
			if !b[3].At.Equal(now) {
				continue
			}
			for i := range b {
				if want := now.Add(time.Duration(i-3) * 5 * time.Minute); !b[i].At.Equal(want) {
					t.Errorf("bucket %d at %s, want %s", i, b[i].At, want)
				}
				b[i].At = time.Time{}
			}
			return b
		}
	}
	last := store.AttemptBucket{ByAttempt: [4]int64{5, 7, 11, 30}, Exhausted: 22, Permanent: 4, First: 11, FirstOK: 5}
	n := func(n int64) store.AttemptBucket {
		return store.AttemptBucket{ByAttempt: [4]int64{n}, First: n, FirstOK: n}
	}
	for _, c := range []struct {
		kind, queue string
		want        []store.AttemptBucket
	}{
		{"", "", []store.AttemptBucket{n(3), n(9), n(3), last}},
		{"k", "", []store.AttemptBucket{n(3), n(9), n(2), last}},
		{"k", "q", []store.AttemptBucket{n(3), n(9), {}, last}},
		{"", "other", []store.AttemptBucket{{}, {}, n(2), {}}},
		{"K", "", make([]store.AttemptBucket, 4)},
		{"a\x00", "", make([]store.AttemptBucket, 4)},
	} {
		if d := cmp.Diff(c.want, read(c.kind, c.queue)); d != "" {
			t.Errorf("kind %q queue %q (-want +got):\n%s", c.kind, c.queue, d)
		}
	}
}

func TestAttemptsBounds(t *testing.T) {
	ctx, db := readSetup(t)
	for _, c := range []struct{ span, width time.Duration }{
		{time.Hour, 0}, {time.Hour, -time.Minute}, {time.Hour, time.Second}, {time.Hour, 90 * time.Second},
		{0, time.Minute}, {-time.Hour, time.Minute}, {1001 * time.Minute, time.Minute},
	} {
		if b, err := db.Attempts(ctx, c.span, c.width, store.AttemptFilter{}); err == nil {
			t.Errorf("span %s, width %s: %d buckets and no error", c.span, c.width, len(b))
		}
	}
	for span, want := range map[time.Duration]int{time.Second: 1, time.Minute: 1, 61 * time.Second: 2, 1000 * time.Minute: 1000} {
		if b, err := db.Attempts(ctx, span, time.Minute, store.AttemptFilter{}); err != nil || len(b) != want {
			t.Errorf("span %s: %d buckets, want %d, %v", span, len(b), want, err)
		}
	}
}
