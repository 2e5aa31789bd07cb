package bookstore

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

func TestMain(m *testing.M) {
	if dsn := os.Getenv(workerDSN); dsn != "" {
		os.Exit(workerProcess(dsn))
	}
	os.Exit(storetest.Run(m))
}

// shop is a running bookshop on a database of its own.
type shop struct {
	*World
	client *jobs.Client
	db     *store.DB
}

func open(t *testing.T, c Config) shop {
	t.Helper()
	db := storetest.New(t)
	c.Logger = slog.New(slog.DiscardHandler)
	client, err := jobs.New(db, jobs.Config{Workers: 8, Logger: c.Logger})
	if err != nil {
		t.Fatal(err)
	}
	s := shop{New(c), client, db}
	s.Register(client)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- client.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil && ctx.Err() == nil {
			t.Errorf("run: %v", err)
		}
		if err := db.Check(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// enqueue gives the job's id.
func (s shop) enqueue(t *testing.T, args jobs.Args, opts ...jobs.EnqueueOption) int64 {
	t.Helper()
	r, err := s.client.Enqueue(t.Context(), args, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return r.ID
}

// until waits for one of the states and gives the job with its history.
func (s shop) until(t *testing.T, id int64, states ...store.State) store.JobDetail {
	t.Helper()
	return s.when(t, id, func(d store.JobDetail) bool { return slices.Contains(states, d.State) })
}

// when polls until the job is as wished.
func (s shop) when(t *testing.T, id int64, wished func(store.JobDetail) bool) store.JobDetail {
	t.Helper()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	deadline := time.After(2 * time.Minute) // a loaded machine
	for {
		d, err := s.db.Job(t.Context(), id, 100, 0)
		if err != nil {
			t.Fatal(err)
		}
		if wished(d) {
			return d
		}
		select {
		case <-poll.C:
		case <-deadline:
			t.Fatalf("job %d stays %s, attempt %d: %+v", id, d.State, d.Attempt, d.History)
		}
	}
}

// oldestFirst turns a history around.
func oldestFirst(d store.JobDetail) []store.HistoryRow {
	var rows []store.HistoryRow
	for i := len(d.History) - 1; i >= 0; i-- {
		rows = append(rows, d.History[i])
	}
	return rows
}
