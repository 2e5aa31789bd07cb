package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// effectCost prepares what a claimed effect costs (claim and begin at once, then done)
// against two bare commits of one row each, on a server that waits for the disk as in
// production. pair does both once; the order changes, so that none pays for the other.
func effectCost(tb testing.TB) (pair func() (bare, claimed time.Duration)) {
	tb.Helper()
	s := storetest.NewServer(tb, map[string]string{"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"})
	if err := s.CreateDatabase(tb.Context(), "cost"); err != nil {
		tb.Fatal(err)
	}
	db := storetest.Open(tb, s.DSN("cost"), store.Options{})
	if err := db.Migrate(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	conn, err := db.Conn(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close() })
	if _, err := conn.ExecContext(tb.Context(), `create table public.bare (id bigint primary key, note text)`); err != nil {
		tb.Fatal(err)
	}
	insert, err := conn.PrepareContext(tb.Context(), `insert into public.bare values ($1, 'note')`)
	if err != nil {
		tb.Fatal(err)
	}
	rows, keys := 0, 0
	commits := func() {
		for range 2 {
			rows++
			if _, err := insert.ExecContext(tb.Context(), rows); err != nil {
				tb.Fatal(err)
			}
		}
	}
	effect := func() {
		keys++
		e, took, err := db.ClaimEffect(tb.Context(), nil, store.EffectTry{Key: fmt.Sprint("k", keys), Begin: true,
			Holder: store.EffectHolder{Name: "b", StaleAfter: time.Minute}})
		if err != nil || !took {
			tb.Fatal(took, err)
		}
		if _, err := db.FinishEffect(tb.Context(), nil, e, `{"messageId":"msg-0001"}`); err != nil {
			tb.Fatal(err)
		}
	}
	timed := func(do func()) time.Duration {
		began := time.Now()
		do()
		return time.Since(began)
	}
	return func() (bare, claimed time.Duration) {
		if keys%2 == 0 {
			bare = timed(commits)
			return bare, timed(effect)
		}
		claimed = timed(effect)
		return timed(commits), claimed
	}
}

const warmUp = 100 // connections and plans are there

// A claimed effect reaches at least half the rate of two bare commits. Medians of the
// same run are compared: a loaded machine slows both.
func TestEffectCostsAtMostTwiceTwoCommits(t *testing.T) {
	pair := effectCost(t)
	for range warmUp {
		pair()
	}
	var bare, claimed []time.Duration
	for range 200 {
		b, c := pair()
		bare, claimed = append(bare, b), append(claimed, c)
	}
	slices.Sort(bare)
	slices.Sort(claimed)
	b, c := bare[len(bare)/2], claimed[len(claimed)/2]
	ratio := b.Seconds() / c.Seconds()
	t.Logf("two bare commits %v, claim + begin + done %v: %.2f of the rate", b, c, ratio)
	if ratio < 0.5 {
		t.Errorf("claim + begin + done reach %.2f of the rate of two bare commits, want at least 0.5", ratio)
	}
}

func BenchmarkEffect(b *testing.B) {
	pair := effectCost(b)
	var bare, claimed time.Duration
	for n := 0; b.Loop(); n++ {
		if n == warmUp {
			bare, claimed = 0, 0
		}
		one, other := pair()
		bare, claimed = bare+one, claimed+other
	}
	b.ReportMetric(bare.Seconds()/claimed.Seconds(), "of-bare-rate")
}
