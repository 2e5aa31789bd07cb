package bench

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tekrar/tekrar/store"
)

// evidence is everything known when a chaos run is over: what the database says,
// and what was seen from outside of it.
type evidence struct {
	*ledger
	record   store.Record
	effects  map[attemptKey]*effect
	deaths   map[int]time.Time // of worker processes, by pid
	outages  []span            // of the database
	lease    time.Duration
	sweep    time.Duration
	slack    time.Duration // for a busy machine
	breaches []string

	numbers  map[int64]int64 // job id to the number in its args
	attempts map[attemptKey]*told
	finished map[int64]store.RecordStep // the last step of each job
	created  map[int64]store.RecordStep // the first one

	figures verdict
}

// told is what history tells of one attempt.
type told struct {
	claims   []store.RecordStep
	outcomes []store.RecordStep // the row that ended it; of a failure with a retry, the failed one
	late     []store.RecordStep
}

// verdict holds the figures that the evidence gives.
type verdict struct {
	Jobs          int     `json:"jobs"`
	Attempts      int     `json:"attempts"`
	Succeeded     int     `json:"succeeded"`
	Failed        int     `json:"failed"`
	Deleted       int     `json:"deleted"`
	RolledBack    int     `json:"refused_or_rolled_back"`
	NoAnswer      int     `json:"enqueues_without_answer"`
	NoAnswerThere int     `json:"enqueues_without_answer_there"`
	ServersLost   int     `json:"servers_lost"`
	Reclaims      int     `json:"reclaims"`
	Late          int     `json:"late_results"`
	Doubled       int     `json:"double_effects"` // jobs whose work was done to its end more than once by attempts of which only one counted
	WorstReclaim  float64 `json:"worst_reclaim_after_lease_ms"`
	WorstCrash    float64 `json:"worst_reclaim_after_kill_ms"`
	WorstOutage   float64 `json:"worst_reclaim_after_lease_with_db_outage_ms"`
}

func (e *evidence) breach(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(e.breaches, text) {
		e.breaches = append(e.breaches, text)
	}
}

// judge finds every breach.
func (e *evidence) judge() {
	e.read()
	e.judgeLedger()
	e.judgeUnique()
	e.judgeAttempts()
	e.judgeEffects()
	e.judgeOverlap()
	e.judgeReclaims()
}

const lostReason = "Server "

func reclaim(s store.RecordStep) bool {
	return !s.Settled && strings.HasPrefix(s.Reason, lostReason) && strings.Contains(s.Reason, " lost")
}

// read sorts the record by attempt.
func (e *evidence) read() {
	e.numbers, e.attempts = map[int64]int64{}, map[attemptKey]*told{}
	e.finished, e.created = map[int64]store.RecordStep{}, map[int64]store.RecordStep{}
	for _, j := range e.record.Jobs {
		var args script
		if err := json.Unmarshal([]byte(j.Args), &args); err != nil || args.N == 0 {
			e.breach("args: job %d has other args than were enqueued: %s", j.ID, j.Args)
		}
		e.numbers[j.ID] = args.N
	}
	e.figures.Jobs = len(e.record.Jobs)
	var before store.RecordStep
	for _, s := range e.record.Steps {
		key := attemptKey{s.JobID, s.Attempt}
		if e.attempts[key] == nil {
			e.attempts[key] = &told{}
		}
		t := e.attempts[key]
		switch {
		case s.State == store.Late:
			t.late = append(t.late, s)
			e.figures.Late++
			continue
		case s.State == store.Processing:
			t.claims = append(t.claims, s)
			e.figures.Attempts++
		case before.JobID == s.JobID && before.State == store.Processing:
			t.outcomes = append(t.outcomes, s)
		case s.Settled && before.State != store.Failed:
			t.outcomes = append(t.outcomes, s) // a second one: no processing row came before
		}
		if reclaim(s) {
			e.figures.Reclaims++
		}
		if _, known := e.created[s.JobID]; !known {
			e.created[s.JobID] = s
		}
		e.finished[s.JobID] = s
		before = s
	}
	for _, s := range e.finished {
		switch s.State {
		case store.Succeeded:
			e.figures.Succeeded++
		case store.Failed:
			e.figures.Failed++
		case store.Deleted:
			e.figures.Deleted++
		default:
			e.breach("unfinished: job %d is %s after everything was drained", s.JobID, s.State)
		}
	}
}

// judgeLedger: what was acknowledged is there, what was not is not.
func (e *evidence) judgeLedger() {
	e.figures.RolledBack, e.figures.NoAnswer = len(e.refused), len(e.unknown)
	seen := map[int64]int64{}
	for id, n := range e.numbers {
		if other, twice := seen[n]; twice {
			e.breach("doubled job: number %d is there as job %d and as job %d", n, other, id)
		}
		seen[n] = id
		_, promised := e.promised[n]
		switch {
		case e.refused[n]:
			e.breach("rolled back job: job %d (number %d) is there", id, n)
		case e.unknown[n]:
			e.figures.NoAnswerThere++
		case !promised:
			e.breach("unknown job: nobody enqueued job %d (number %d)", id, n)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(e.promised)) {
		if id := e.promised[n]; seen[n] != id {
			e.breach("lost job: job %d (number %d) was acknowledged and is not there", id, n)
		}
	}
	for id := range e.duplicates {
		if _, there := e.numbers[id]; !there {
			e.breach("unique: job %d was named as the holder of a key and is not there", id)
		}
	}
}

// judgeUnique: no two jobs of one key were unfinished at one time.
func (e *evidence) judgeUnique() {
	holders := map[string][]int64{}
	for _, j := range e.record.Jobs {
		if key := e.key[e.numbers[j.ID]]; key != "" {
			holders[key] = append(holders[key], j.ID)
		}
	}
	for key, ids := range holders {
		slices.SortFunc(ids, func(a, b int64) int { return e.created[a].At.Compare(e.created[b].At) })
		for i := 1; i < len(ids); i++ {
			if a, b := e.finished[ids[i-1]], e.created[ids[i]]; b.At.Before(a.At) {
				e.breach("unique: job %d of %s began at %s, before job %d finished at %s", ids[i], key, at(b.At), ids[i-1], at(a.At))
			}
		}
	}
}

// judgeAttempts: one processing row each, at most one outcome, by its own token; and
// no job succeeds twice.
func (e *evidence) judgeAttempts() {
	succeeded := map[int64]bool{}
	for k, t := range e.attempts {
		if k.attempt == 0 {
			continue
		}
		if len(t.claims) != 1 {
			e.breach("claims: job %d attempt %d has %d processing rows", k.job, k.attempt, len(t.claims))
			continue
		}
		if len(t.outcomes) != 1 {
			e.breach("outcomes: job %d attempt %d has %d outcome rows", k.job, k.attempt, len(t.outcomes))
		}
		for _, o := range slices.Concat(t.outcomes, t.late) {
			if o.Server != t.claims[0].Server {
				e.breach("token: job %d attempt %d was claimed by server %d, and its %s row is by server %d",
					k.job, k.attempt, t.claims[0].Server.Int64, o.State, o.Server.Int64)
			}
		}
		for _, o := range t.outcomes {
			if o.State == store.Succeeded {
				if succeeded[k.job] {
					e.breach("succeeded twice: job %d", k.job)
				}
				succeeded[k.job] = true
			}
			if len(t.late) > 0 && o.Settled {
				e.breach("settled twice: job %d attempt %d has its own outcome (%s) and a late row", k.job, k.attempt, o.State)
			}
		}
		if len(t.late) > 1 {
			e.breach("late twice: job %d attempt %d has %d late rows", k.job, k.attempt, len(t.late))
		}
	}
}

func at(t time.Time) string { return t.UTC().Format("15:04:05.000000") }
