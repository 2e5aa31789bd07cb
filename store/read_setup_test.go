package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

func readSetup(t *testing.T) (context.Context, *store.DB) {
	t.Helper()
	t.Parallel()
	return t.Context(), storetest.New(t)
}

var someTime = time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)

// past is a job as its history tells it: the states it went through.
type past struct {
	kind, queue  string // default "k", "default"
	args, policy string // JSON; default {} and none
	priority     int
	at           time.Time // of every row and hot row; default someTime
	states       []store.State
}

// put writes jobs so that all tables agree: jobs, history, the hot row of the
// last state, and the statistics of the outcomes.
func put(t *testing.T, db *store.DB, jobs ...past) []int64 {
	t.Helper()
	var ids []int64
	err := db.Tx(t.Context(), func(tx *sqlx.Tx) error {
		for _, p := range jobs {
			id, err := p.insert(tx)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func (p past) insert(tx *sqlx.Tx) (id int64, err error) {
	if p.kind == "" {
		p.kind = "k"
	}
	if p.queue == "" {
		p.queue = "default"
	}
	if p.args == "" {
		p.args = "{}"
	}
	if p.at.IsZero() {
		p.at = someTime
	}
	err = tx.Get(&id, `insert into tekrar.jobs (created_at, priority, queue, kind, args, policy)
		values ($1, $2, $3, $4, $5, nullif($6, '')::jsonb) returning id`, p.at, p.priority, p.queue, p.kind, p.args, p.policy)
	attempt, last := 0, store.State(0)
	for _, s := range p.states {
		if s == store.Processing {
			attempt++
		}
		if err == nil {
			_, err = tx.Exec(`insert into tekrar.history (job_id, at, server, attempt, state, queue, kind, actor)
				select $1, $2, case when $4 = 3 then 1 end, $3, $4, $5, $6, case when $4 = 2 then 'someone' end`,
				id, p.at, attempt, s, p.queue, p.kind)
		}
		if outcome := map[store.State]store.Outcome{store.Succeeded: 1, store.Failed: 4}[s]; outcome != 0 && err == nil {
			_, err = tx.Exec(`insert into tekrar.stats (minute, server, n, run_us, wait_us, outcome, attempt, bucket, queue, kind)
				values (date_trunc('minute', $1::timestamptz), 1, 1, 0, 0, $2, $3, 0, $4, $5)
				on conflict (minute, server, kind, queue, outcome, attempt, bucket) do update set n = stats.n + 1`,
				p.at, outcome, attempt, p.queue, p.kind)
		}
		last = s
	}
	hot := map[store.State]string{
		store.Enqueued:   `insert into tekrar.ready (job_id, ready_at, attempt, priority, queue, kind) values ($1, $2, $3, $4, $5, $6)`,
		store.Processing: `insert into tekrar.running (job_id, started_at, attempt, priority, queue, kind, server) values ($1, $2, $3, $4, $5, $6, 1)`,
		store.Scheduled:  `insert into tekrar.scheduled (job_id, run_at, attempt, priority, queue, kind) values ($1, $2, $3, $4, $5, $6)`,
		store.Awaiting: `insert into tekrar.awaiting (job_id, parent_id, since, condition, priority, queue, kind)
			select $1, $1, $2, 1, $4, $5, $6 where $3 = 0`,
		store.Failed: `insert into tekrar.failed (job_id, failed_at, attempt, priority, queue, kind, error_type, error_line)
			values ($1, $2, $3, $4, $5, $6, 'net.OpError', 'refused')`,
	}[last]
	if hot != "" && err == nil {
		_, err = tx.Exec(hot, id, p.at, attempt, p.priority, p.queue, p.kind)
	}
	return id, err
}

// way leads to a state by legal steps.
func way(to store.State) []store.State {
	switch to {
	case store.Enqueued, store.Scheduled, store.Awaiting:
		return []store.State{to}
	case store.Processing:
		return []store.State{store.Enqueued, store.Processing}
	}
	return []store.State{store.Enqueued, store.Processing, to}
}

func repeat(n int, p past) []past {
	all := make([]past, n)
	for i := range all {
		all[i] = p
	}
	return all
}

func execAll(t *testing.T, db *store.DB, texts ...string) {
	t.Helper()
	err := db.Tx(t.Context(), func(tx *sqlx.Tx) error {
		for _, text := range texts {
			if _, err := tx.Exec(text); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// walk reads all pages of a list.
func walk(t *testing.T, db *store.DB, f store.JobFilter) (rows []store.JobRow) {
	t.Helper()
	for range 1000 {
		page, next, err := db.Jobs(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, page...)
		if next.IsZero() {
			return rows
		}
		if f.After, err = store.ParseCursor(next.String()); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the list never ends")
	return nil
}

func jobIDs(rows []store.JobRow) []int64 {
	all := make([]int64, len(rows))
	for i, r := range rows {
		all[i] = r.ID
	}
	return all
}
