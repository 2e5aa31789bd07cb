package store

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"
)

func TestProbe(t *testing.T) {
	dsn := os.Getenv("PROBE")
	if dsn == "" {
		t.Skip()
	}
	db, err := Open(dsn, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	tm := func(name string, f func() (any, error)) {
		for i := 0; i < 3; i++ {
			t0 := time.Now()
			v, err := f()
			fmt.Println(name, time.Since(t0), v, err)
		}
	}
	for _, s := range States {
		for _, f := range []JobFilter{{State: s}, {State: s, Kind: "k1"}, {State: s, Queue: "q1"}, {State: s, Kind: "nope"}, {State: s, Queue: "nope"}} {
			tm(fmt.Sprint("list ", f), func() (any, error) { r, n, err := db.Jobs(ctx, f); return fmt.Sprint(len(r), n), err })
			tm(fmt.Sprint("count ", f), func() (any, error) { return db.CountJobs(ctx, f) })
		}
	}
	tm("counts", func() (any, error) { return db.Counts(ctx) })
	tm("retrying", func() (any, error) { n, x, err := db.Retrying(ctx); return fmt.Sprint(n, x), err })
	tm("oldest", func() (any, error) { return db.OldestReady(ctx) })
	tm("queues", func() (any, error) { return db.Queues(ctx) })
	tm("servers", func() (any, error) { return db.Servers(ctx) })
	tm("kinds", func() (any, error) { return db.Kinds(ctx) })
	tm("attempts", func() (any, error) { r, err := db.Attempts(ctx, time.Hour, 5*time.Minute, "", ""); return len(r), err })
	tm("job", func() (any, error) { r, err := db.Job(ctx, 7, 0, 0); return fmt.Sprintf("%+v", r), err })
	tm("check", func() (any, error) { return nil, db.Check(ctx) })
}
