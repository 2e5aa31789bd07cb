package store_test

import (
	"testing"
	"time"

	"github.com/tekrar/tekrar/store/storetest"
)

// Counted again and again, each minute counts once for good, and one that is out of
// reach not at all.
func TestStatsSince(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	execAll(t, db, `insert into tekrar.stats (minute, server, n, run_us, wait_us, outcome, attempt, bucket, queue, kind)
select date_trunc('minute', clock_timestamp()) - m * interval '1 minute', s, 10, 20000000, 30000000, 1, 2, 3, 'q', 'k'
from (values (0), (1), (20), (150)) a(m), (values (1), (2)) b(s)`)
	sum := func(since time.Time) (settled, open int64, next time.Time) {
		t.Helper()
		sums, next, err := db.StatsSince(t.Context(), since)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sums {
			if s.Kind != "k" || s.Queue != "q" || s.Attempt != 2 || s.Bucket != 3 || s.Run != time.Duration(s.N)*2*time.Second || s.Wait != time.Duration(s.N)*3*time.Second {
				t.Errorf("sum %+v", s)
			}
			if s.Settled {
				settled += s.N
			} else {
				open += s.N
			}
		}
		return settled, open, next
	}
	if settled, open, _ := sum(time.Time{}); settled != 0 || open != 40 {
		t.Errorf("first: %d settled, %d open", settled, open)
	}
	settled, open, next := sum(time.Now().Add(-3 * time.Hour))
	if settled != 20 || open != 40 || time.Since(next) < 4*time.Minute || time.Since(next) > 8*time.Minute {
		t.Errorf("after a pause: %d settled, %d open, next %v ago", settled, open, time.Since(next))
	}
	if settled, open, _ := sum(next); settled != 0 || open != 40 {
		t.Errorf("again: %d settled, %d open", settled, open)
	}
	execAll(t, db, `delete from tekrar.stats`)
	if settled, open, next := sum(time.Time{}); settled+open != 0 || next.IsZero() {
		t.Errorf("empty: %d, next %v", settled+open, next)
	}
}
