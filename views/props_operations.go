package views

import "time"

// ListFilter is a list of jobs as its address says it; empty fields mean any.
type ListFilter struct {
	State       State
	Queue, Kind string
	Cause       string // of scheduled jobs: asked, retry or snooze; "" any
	Group       string // 16 hexadecimal digits: one group of failures of that kind
	Q           string // as typed
}

// narrow reports that the filter holds less than a whole state.
func (f ListFilter) narrow() bool {
	return f.Queue != "" || f.Kind != "" || f.Cause != "" || f.Group != "" || f.Q != ""
}

// FailuresProps is the page of failed jobs by what went wrong.
type FailuresProps struct {
	Groups      []FailureProps // largest first
	Muted       []FailureProps
	GroupsTotal int64 // with those that are not shown; without muted ones
	JobsTotal   int64
	LoadFailed  bool
	Version     int64
}

// FailureProps is one group: jobs of a kind whose error has the same type and, but
// for numbers and ids, the same message.
type FailureProps struct {
	Kind, Group          string
	ErrorType, ErrorLine string // of the newest job
	N                    int64
	First, Last          time.Time
	Exhausted, Permanent int64     // of N; the rest was lost with its server, or is old
	ByAttempt            [4]int64  // of N: failed last at attempt 1, 2, 3, 4 or later
	Hours                [24]int64 // of N: in each of the last 24 hours, oldest first
	MutedAt              *time.Time
	MutedBy              string
}

// FailureConfirmProps asks before a group is muted or shown again.
type FailureConfirmProps struct {
	FailureProps
	Do   string // mute, unmute
	Back string
}

// BulkConfirmProps says what an action on all jobs of a filter will do.
type BulkConfirmProps struct {
	Do     string // requeue, delete, restore
	Filter ListFilter
	Count  Count
	Sample []JobRowProps // the first few
	SeenAt string        // when Count was taken, for the form
	Typed  string        // what was typed last
	Wrong  string        // why that was not enough; "" none
	Back   string
}

// TypedFrom is how many jobs a bulk action is about before its count must be typed.
const TypedFrom = 100

// BulkProps is the page of one bulk operation.
type BulkProps struct {
	ID, Do                  string // do: requeue, delete, restore
	State                   string // running, done, stopped, failed, idle (running, but nobody works on it)
	Fresh, Stopping         bool
	Actor, StoppedBy        string
	Filter                  ListFilter
	Expected, Done, Skipped int64
	CreatedAt               time.Time
	FinishedAt              *time.Time
	Error                   string
	UndoOf, UndoneBy        string // ids, "" none
	CanUndo                 bool
	Version                 int64
}

// AuditProps is the page of what people did.
type AuditProps struct {
	Rows             []AuditRowProps
	Actor, Action    string // filters, "" all
	Actors, Actions  []string
	Before, Next     string // ids; "" first, last page
	LoadFailed, None bool   // None: nobody ever did anything
}

// AuditRowProps is one thing that somebody did.
type AuditRowProps struct {
	ID            string
	At            time.Time
	Actor, Action string
	Job           string      // id, linked; "" none
	Queue         string      // linked; "" none
	Recurring     string      // id, linked; "" none
	Filter        *ListFilter // nil none
	Kind          string
	About         *int64 // jobs it was about, as shown to the actor
	Done, Skipped *int64 // of an operation, so far
	Bulk          string // id of the operation, linked; "" none
	From          State  // the job's state before, "" unknown
	CopiedFrom    string // id of the job of which Job is a copy, linked; "" none
	Rest          string // of the detail, as JSON; "" none
	Undo          bool   // a deletion that can be undone now
}
