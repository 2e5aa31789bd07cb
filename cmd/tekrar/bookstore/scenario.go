package bookstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/jobs"
)

// Scenario plays one card of the lab, counts what came of it, and fails if that is
// not what the card says.
type Scenario struct {
	Card string `json:"card"`
}

// Kind names the job.
func (Scenario) Kind() string { return "lab-scenario" }

// scenario is a card with what it does. play returns the counted outcome in words.
type scenario struct {
	key, title, story, expect string
	play                      func(ctx context.Context, s *stage) (verdict string, asTold bool, err error)
}

func findScenario(key string) (scenario, bool) {
	for _, s := range scenarios() {
		if s.key == key {
			return s, true
		}
	}
	return scenario{}, false
}

// busyWait is when a scenario looks again while another is on.
const busyWait = time.Second

func (l *Lab) play(ctx context.Context, job *jobs.Job[Scenario]) error {
	s, known := findScenario(job.Args.Card)
	if !known {
		return jobs.Permanent(fmt.Errorf("card: %q is unknown", job.Args.Card))
	}
	ran, err := l.tables.alone(ctx, func() error {
		verdict, asTold, err := s.play(ctx, &stage{l, job, labQueue})
		if err != nil {
			return err
		}
		job.Log("%s", verdict)
		if err := l.tables.keepRun(ctx, job.ID, s.key, verdict, asTold); err != nil {
			return err
		}
		if !asTold {
			return fmt.Errorf("not as the card says: %s", verdict)
		}
		return nil
	})
	if err == nil && !ran {
		return jobs.Snooze(busyWait)
	}
	return err
}

// Run is a finished scenario.
type Run struct {
	JobID   int64     `db:"job_id"`
	At      time.Time `db:"at"`
	Card    string    `db:"card"`
	Verdict string    `db:"verdict"`
	AsTold  bool      `db:"as_told"` // it ended as its card says
}

// Runs lists the last finished scenarios, newest first, at most limit.
func (l *Lab) Runs(ctx context.Context, limit int) ([]Run, error) {
	var runs []Run
	err := l.tables.db.SelectContext(ctx, &runs, `select job_id, at, card, verdict, as_told from bookstore.scenario_runs order by at desc limit $1`, limit)
	return runs, err
}

const keptRuns = 200

func (t tables) keepRun(ctx context.Context, jobID int64, card, verdict string, asTold bool) error {
	return t.db.Tx(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `insert into bookstore.scenario_runs (job_id, card, verdict, as_told) values ($1, $2, $3, $4)
on conflict (job_id) do update set at = clock_timestamp(), card = $2, verdict = $3, as_told = $4`, jobID, card, verdict, asTold)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `delete from bookstore.scenario_runs where job_id in (select job_id from bookstore.scenario_runs order by at desc offset $1)`, keptRuns)
		return err
	})
}

// mailsInWords is how the cards and the verdicts count.
func mailsInWords(ids []string) string {
	words := []string{"no mail", "one mail", "two mails", "three mails"}
	n := len(ids)
	switch {
	case n == 0:
		return words[0]
	case n < len(words):
		return words[n] + " (" + strings.Join(ids, ", ") + ")"
	}
	return fmt.Sprintf("%d mails (%s, …)", n, ids[0])
}

// numbers names jobs.
func numbers(ids []int64) string {
	if len(ids) == 1 {
		return fmt.Sprintf("job %d", ids[0])
	}
	return "jobs " + strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ", "), "[]")
}
