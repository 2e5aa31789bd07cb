package jobs

import (
	"errors"

	"github.com/tekrar/tekrar/store"
)

// Condition says how its parent has to end for a continuation to start:
// OnSuccess, OnFailure or Always.
type Condition = store.Condition

// The conditions of After. A parent that was deleted, by a person, by its policy
// or by Cancel, did not succeed.
const (
	// OnSuccess starts when the parent succeeded. While the parent is failed or
	// deleted the continuation waits on: a person can requeue or restore it, and its
	// success then starts the continuation. When retention removes a deleted parent,
	// the continuation is deleted.
	OnSuccess = store.OnSuccess
	// OnFailure starts when the parent failed for good (its retries used up, or an
	// error that rules them out) or was deleted. A failure that a retry follows is
	// none. When the parent succeeds, the continuation is deleted.
	OnFailure = store.OnFailure
	// Always starts when the parent succeeded, failed for good or was deleted.
	Always = store.Always
)

// After makes the job a continuation: it is Awaiting until the job parentID, its
// parent, ends as the condition says, and is enqueued then. A parent that has
// ended already starts it at once; one that does not exist, or that retention has
// removed, is refused with an InputError. A continuation starts once: when its
// parent is run again later, nothing happens to it.
//
// One whose condition cannot come true any more becomes Deleted, with the reason
// in its history ("Parent 17 succeeded; it waited for a failure"); for those who
// wait for it in turn, it did not succeed.
//
// A parent can have any number of continuations, and a continuation can be a
// parent. A job waits for one parent, and not for a time as well: At and In are
// refused. A person's Requeue runs an awaiting job now. The start follows the end
// of the parent within milliseconds, after a crash or without notifications within
// the poll (with many thousands of awaiting jobs, within a few). The enqueue takes
// a transaction and a notification of its own, so it costs more than a plain one.
func After(parentID int64, c Condition) EnqueueOption {
	return func(j *store.NewJob) error {
		switch {
		case parentID <= 0:
			return inputError("after", "%d is no id of a job", parentID)
		case c < OnSuccess || c > Always:
			return inputError("after condition", "is not set: OnSuccess, OnFailure or Always")
		case j.Parent != 0:
			return inputError("after", "is given twice: a job waits for one parent")
		}
		j.Parent, j.Condition = parentID, c
		return nil
	}
}

// checkParent refuses what contradicts itself, in whatever order it was given.
func checkParent(j store.NewJob) error {
	if j.Parent != 0 && (j.In > 0 || !j.At.IsZero()) {
		return inputError("after", "has a time beside it: a job waits for its parent or for a time")
	}
	return nil
}

func noParent(err error) error {
	if missing, ok := errors.AsType[*store.NoParentError](err); ok {
		return inputError("after", "job %d does not exist, or retention has removed it", missing.ID)
	}
	return err
}
