package store

import (
	"encoding/json"
	"time"
)

// RecurringRow is a recurring job: what is enqueued, when, and by which rules.
type RecurringRow struct {
	ID        string          `db:"id"`
	Kind      string          `db:"kind"`
	Queue     string          `db:"queue"`
	Priority  int             `db:"priority"`
	Args      json.RawMessage `db:"args"`
	Spec      string          `db:"spec"`    // cron expression, macro or "@every d"
	Zone      string          `db:"zone"`    // IANA name
	Misfire   string          `db:"misfire"` // run_once, run_all, skip
	Overlap   string          `db:"overlap"` // allow, skip, queue_one
	Policy    json.RawMessage `db:"policy"`  // of its jobs; nil: the kind's
	TimeoutMS *int64          `db:"timeout_ms"`
	StartAt   *time.Time      `db:"start_at"`
	EndAt     *time.Time      `db:"end_at"`
	// NextRun is the next fire; nil when none is to come (ended, or given up after
	// too many errors). Of a paused or removed one it is where it stopped.
	NextRun *time.Time `db:"next_run"`
	// LastFire is the newest fire that was dealt with, runs by hand apart.
	LastFire *time.Time `db:"last_fire"`
	// WaitingFire is the fire that waits for the job before it (queue_one).
	WaitingFire *time.Time `db:"waiting_fire"`
	PausedAt    *time.Time `db:"paused_at"`
	PausedBy    string     `db:"paused_by"`
	RemovedAt   *time.Time `db:"removed_at"`
	Declared    bool       `db:"declared"`   // in the code of some program
	Definition  string     `db:"definition"` // hash of what that code said last
	Failures    int        `db:"failures"`   // looks in a row that ended in Error
	Warning     string     `db:"warning"`    // of the retry policy; empty: none
	Error       string     `db:"error"`      // why it cannot fire; empty: it can
	CreatedAt   time.Time  `db:"created_at"`
	UpdatedAt   time.Time  `db:"updated_at"`
	Last        []FireRow  `db:"-"` // newest first, at most 20
}

// FireRow is one fire of a recurring job, or a run by hand.
type FireRow struct {
	FireAt time.Time
	// JobID is nil when no job was made, or retention has removed it since.
	JobID   *int64
	Outcome string // enqueued, skipped, waiting
	Note    string
	// State and the counters are those of the job; State is 0 without one. Of a
	// removed job only State is known.
	State          State
	Attempt, Retry int
	MaxRetries     *int
}

// FireOutcome says what became of a fire.
type FireOutcome int16

// The outcomes of a fire.
const (
	FireEnqueued FireOutcome = 1
	FireSkipped  FireOutcome = 2
	FireWaiting  FireOutcome = 3 // for the job before it to finish
)

func (o FireOutcome) String() string {
	return map[FireOutcome]string{FireEnqueued: "enqueued", FireSkipped: "skipped", FireWaiting: "waiting"}[o]
}

const recurringColumns = `r.id, r.kind, r.queue, r.priority, r.args, r.spec, r.zone, r.misfire, r.overlap, coalesce(r.policy, 'null') as policy, r.timeout_ms,
  r.start_at, r.end_at, r.next_run, r.last_fire, r.waiting_fire, r.paused_at, coalesce(r.paused_by, '') as paused_by, r.removed_at,
  r.declared, r.definition, r.failures, r.warning, r.error, r.created_at, r.updated_at`

// normal makes a row that was just read independent of how the driver reads it.
func (r *RecurringRow) normal() {
	if string(r.Policy) == "null" {
		r.Policy = nil
	}
	for _, t := range []*time.Time{r.StartAt, r.EndAt, r.NextRun, r.LastFire, r.WaitingFire, r.PausedAt, r.RemovedAt, &r.CreatedAt, &r.UpdatedAt} {
		if t != nil {
			*t = t.UTC()
		}
	}
}
