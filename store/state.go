package store

import "fmt"

// State is where a job stands. Tables hold the number; Go, SQL views and
// screens hold the name.
type State int16

// The states of a job. Late is no state of a job: it marks a history row that
// keeps the refused result of an attempt that had lost its job.
const (
	// Awaiting: for its parent to end. It is below the others, so that what asks for
	// the states of a job (all up to Deleted) has it, and not 0, which is no state.
	Awaiting   State = -1
	Scheduled  State = 1 // waits for its run_at: asked for at enqueue, a retry, or a snooze
	Enqueued   State = 2 // ready to be claimed
	Processing State = 3 // held by one attempt of one server
	Succeeded  State = 4
	Failed     State = 5 // kept until a person requeues or deletes it
	Deleted    State = 6 // can be restored within its retention
	Late       State = 7
)

// States lists the states of a job in the order in which screens show them.
var States = []State{Enqueued, Scheduled, Awaiting, Processing, Succeeded, Failed, Deleted}

var stateNames = map[State]string{
	Awaiting: "awaiting", Scheduled: "scheduled", Enqueued: "enqueued", Processing: "processing",
	Succeeded: "succeeded", Failed: "failed", Deleted: "deleted", Late: "late",
}

func (s State) String() string {
	if n, ok := stateNames[s]; ok {
		return n
	}
	return fmt.Sprintf("state(%d)", int16(s))
}

// ParseState reads a state's name; the error lists the known ones.
func ParseState(name string) (State, error) {
	for _, s := range States {
		if stateNames[s] == name {
			return s, nil
		}
	}
	return 0, fmt.Errorf("unknown state %q: one of enqueued, scheduled, awaiting, processing, succeeded, failed, deleted", name)
}

// Outcome is how one attempt ended, as statistics count it.
type Outcome int16

// The outcomes of an attempt.
const (
	OutcomeSucceeded   Outcome = 1
	OutcomeRetried     Outcome = 2 // failed; a retry waits
	OutcomeExhausted   Outcome = 3 // failed; the retry budget was used up
	OutcomePermanent   Outcome = 4 // failed; the policy or the handler ruled retries out
	OutcomeExceeded    Outcome = 5 // failed; budget used up and the policy deletes
	OutcomeSnoozed     Outcome = 6 // put off by its handler
	OutcomeInterrupted Outcome = 7 // stopped because its server stopped
	OutcomeLost        Outcome = 8 // its server was lost
	OutcomeCancelled   Outcome = 9 // its handler asked for deletion
)

// Cause says why a job is scheduled.
type Cause int16

// The causes of the scheduled state.
const (
	CauseAsked  Cause = 1 // a time given at enqueue
	CauseRetry  Cause = 2
	CauseSnooze Cause = 3
)
