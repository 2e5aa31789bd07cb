package web_test

import (
	"strings"
	"time"
)

// last is the state of every job that has no hot row: its last row of history says it.
const last = `(select distinct on (job_id) job_id, state, id, kind, queue, attempt, at from tekrar.history where state <= 6 order by job_id, id desc)`

// listed is a job as its list has to show it. Retry is what it used up of its retries.
type listed struct {
	ID             int64 `db:"job_id"`
	Kind, Queue    string
	Attempt, Retry int64
	Max            int64
	At             time.Time
}

// lists are the jobs of each state, in the order of the page.
var lists = map[string]string{
	"enqueued":   `select job_id, kind, queue, attempt, retry, ready_at as at, 0 as turn from tekrar.ready`,
	"scheduled":  `select job_id, kind, queue, attempt, retry, run_at as at, 0 as turn from tekrar.scheduled`,
	"awaiting":   `select job_id, kind, queue, 0 as attempt, 0 as retry, since as at, 0 as turn from tekrar.awaiting`,
	"processing": `select job_id, kind, queue, attempt, retry, started_at as at, 0 as turn from tekrar.running`,
	"failed":     `select job_id, kind, queue, attempt, retry, failed_at as at, 0 as turn from tekrar.failed`,
	"succeeded":  `select job_id, kind, queue, attempt, 0 as retry, at, id as turn from ` + last + ` l where state = 4`,
	"deleted":    `select job_id, kind, queue, attempt, 0 as retry, at, id as turn from ` + last + ` l where state = 6`,
}

var orders = map[string]string{"failed": "at desc, job_id desc", "succeeded": "turn desc", "deleted": "turn desc"}

func (q frozen) listed(state, kind, queue string) (all []listed) {
	order := orders[state]
	if order == "" {
		order = "at, job_id"
	}
	q.rows(&all, `select l.job_id, l.kind, l.queue, l.attempt, l.retry, coalesce(k.max_retries, -1) as max, l.at
from (`+lists[state]+`) l left join tekrar.kinds k on k.kind = l.kind
where ($1 = '' or l.kind = $1) and ($2 = '' or l.queue = $2) order by `+order, kind, queue)
	return all
}

// numbersOfJobs is a list with its filter; found says what else has to hold for a row.
func numbersOfJobs(state, kind, queue string, filtered bool, found func(listed) bool) func(*sheet, frozen) {
	return func(s *sheet, q frozen) {
		jobs := q.listed(state, kind, queue)
		if found != nil {
			kept := jobs[:0]
			for _, j := range jobs {
				if found(j) {
					kept = append(kept, j)
				}
			}
			jobs = kept
		}
		shown := min(len(jobs), 50)
		for _, a := range all(s.main, "#state-tabs a") {
			tab := strings.TrimPrefix(attr(a, "class"), "st-")
			switch n := int64(len(jobs)); {
			case !filtered:
				n = q.n(`select count(*) from (` + lists[tab] + `) l`)
				s.says(first(a, "b"), n)
			case tab == state && first(a, "b") != nil:
				s.says(a, n)
			}
		}
		s.jobRows(jobs[:shown], state)
		s.excuse(".howto", "examples of the search language")
		if shown > 0 {
			s.says(first(s.main, "table.jobs caption"), shown)
			s.says(first(s.main, ".pager span"), shown)
		}
	}
}

// jobRows are the rows of a list, in their order.
func (s *sheet) jobRows(jobs []listed, state string) {
	rows := all(s.main, "table.jobs tbody tr")
	if len(rows) != len(jobs) {
		s.wrong("%d rows, want %d", len(rows), len(jobs))
		return
	}
	for i, row := range rows {
		j := jobs[i]
		if idNumber(row) != j.ID {
			s.wrong("row %d is job %d, want %d", i, idNumber(row), j.ID)
			continue
		}
		s.says(first(row, ".c-job .id"), j.ID)
		if box := first(row, ".c-tick input"); box != nil {
			s.named(box, "aria-label", j.ID)
		}
		s.says(first(row, ".c-att"), j.attempts(state)...)
		s.times(first(row, ".c-when"), j.At)
		s.words(first(row, ".c-det")) // a reason or an error, as it was recorded
	}
}

// attempts are "2 of 4": the coming one of a job that waits, and how many there can be.
func (j listed) attempts(state string) []any {
	n := j.Attempt
	if state == "enqueued" || state == "scheduled" || state == "awaiting" {
		n++
	}
	if state == "succeeded" || j.Max < 0 {
		return []any{n}
	}
	return []any{n, n + max(0, j.Max-j.Retry)}
}

// numbersOfGroup is the list behind a group of failures.
func numbersOfGroup(s *sheet, q frozen) {
	var jobs []listed
	q.rows(&jobs, `select job_id, kind, queue, attempt, retry, failed_at as at, coalesce((select max_retries from tekrar.kinds k where k.kind = f.kind), -1) as max
from tekrar.failed f where (kind, fingerprint) = (select kind, fingerprint from tekrar.failed group by 1, 2 order by count(*) desc, 1, 2 limit 1) order by failed_at desc, job_id desc`)
	s.says(first(s.main, "#state-tabs b"), len(jobs))
	jobs = jobs[:min(len(jobs), 50)]
	s.jobRows(jobs, "failed")
	s.says(first(s.main, "table.jobs caption"), len(jobs))
	s.says(first(s.main, ".pager span"), len(jobs))
	s.excuse(".howto", "examples of the search language")
	s.excuse(".note", "an error's own text")
}
