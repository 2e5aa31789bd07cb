package store_test

import (
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// What a claimed effect costs against two bare commits of one row each, on a server
// that waits for the disk as in production: claim and begin at once, then done.
func BenchmarkEffect(b *testing.B) {
	s := storetest.NewServer(b, map[string]string{"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"})
	if err := s.CreateDatabase(b.Context(), "cost"); err != nil {
		b.Fatal(err)
	}
	db := storetest.Open(b, s.DSN("cost"), store.Options{})
	if err := db.Migrate(b.Context()); err != nil {
		b.Fatal(err)
	}
	conn, err := db.Conn(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(b.Context(), `create table public.bare (id bigint primary key, note text)`); err != nil {
		b.Fatal(err)
	}
	insert, err := conn.PrepareContext(b.Context(), `insert into public.bare values ($1, 'note')`)
	if err != nil {
		b.Fatal(err)
	}
	var bare, claimed time.Duration
	n := 0
	for b.Loop() {
		if n == 100 { // connections and plans are there
			bare, claimed = 0, 0
		}
		began := time.Now()
		for range 2 {
			n++
			if _, err := insert.ExecContext(b.Context(), n); err != nil {
				b.Fatal(err)
			}
		}
		bare += time.Since(began)
		began = time.Now()
		e, took, err := db.ClaimEffect(b.Context(), nil, store.EffectTry{Key: "k" + time.Now().String(), Begin: true,
			Holder: store.EffectHolder{Name: "b", StaleAfter: time.Minute}})
		if err != nil || !took {
			b.Fatal(took, err)
		}
		if _, err := db.FinishEffect(b.Context(), nil, e, `{"messageId":"msg-0001"}`); err != nil {
			b.Fatal(err)
		}
		claimed += time.Since(began)
	}
	b.ReportMetric(bare.Seconds()/claimed.Seconds(), "of-bare-rate")
}
