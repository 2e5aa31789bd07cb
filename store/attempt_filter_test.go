package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// Attempts are told apart by the version of the program that ran them, by the minute
// and after their minutes became hours.
func TestAttemptsOfAVersion(t *testing.T) {
	t.Parallel()
	e := newEngine(t, storetest.New(t))
	e.exec(`insert into tekrar.servers (id, name, host, pid, version, slots, lease_until) overriding system value select 100 + id, 's', 'h', 1, v, 1, now()
		from (values (1, 'v1'), (2, 'v1'), (3, 'v2'), (4, ''), (5, 'v3')) s (id, v)`)
	e.exec(`insert into tekrar.stats (minute, server, n, run_us, wait_us, outcome, attempt, bucket, queue, kind)
		select date_trunc('hour', now(), 'UTC') - interval '3 hours' + m * interval '1 min', 100 + s, 10 ^ (s - 1), 7000, 0, 1, 1, 0, 'q', 'k'
		from generate_series(0, 179) m cross join generate_series(1, 4) s`)
	type figures struct{ all, v1, v2, v3, odd int64 }
	read := func() (f figures) {
		t.Helper()
		for version, into := range map[string]*int64{"": &f.all, "v1": &f.v1, "v2": &f.v2, "v3": &f.v3, "v\x00": &f.odd} {
			of := store.AttemptFilter{Queue: "q", Version: version}
			bars, err := e.db.Attempts(e.ctx, 6*time.Hour, time.Hour, of)
			kinds, err2 := e.db.AttemptKinds(e.ctx, 6*time.Hour, time.Hour, of)
			if err != nil || err2 != nil || len(bars) != 6 {
				t.Fatal(len(bars), err, err2)
			}
			for _, b := range bars {
				*into += b.First
			}
			var first int64
			for _, k := range kinds {
				first += k.First
			}
			if first != *into {
				t.Errorf("version %q: %d first attempts in bars, %d by kind", version, *into, first)
			}
		}
		return f
	}
	want := figures{all: 180 * 1111, v1: 180 * 11, v2: 180 * 100}
	if got := read(); got != want {
		t.Errorf("by the minute: %+v, want %+v", got, want)
	}
	for range 2 { // the second time there is nothing to do
		if err := e.db.FoldStats(e.ctx, 0); err != nil {
			t.Fatal(err)
		}
		if got := read(); got != want {
			t.Errorf("by the hour: %+v, want %+v", got, want)
		}
		if n := e.count(`select count(*) from tekrar.stats where server > 0`); n != 0 {
			t.Errorf("%d minutes are left", n)
		}
		if n := e.count(`select count(*) from tekrar.stats`); n != 3*3 {
			t.Errorf("%d rows for three hours of two versions and none", n)
		}
	}
	if all, err := e.db.Versions(e.ctx); err != nil || !slices.Equal(all, []string{"v3", "v2", "v1"}) {
		t.Errorf("versions %v, %v", all, err)
	}
}
