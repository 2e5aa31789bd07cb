package views

import "time"

// RecurringProps is the list of recurring jobs, in the order given.
type RecurringProps struct {
	Rows       []RecurringRowProps
	More       int // recurring jobs beyond the rows
	LoadFailed bool
}

// RecurringRowProps is one recurring job with its last fires.
type RecurringRowProps struct {
	Version         int64
	ID, Kind, Queue string
	Spec, Zone      string
	Words           string     // what the expression means, in the reader's language; "" when it cannot be read
	Next            *time.Time // in the schedule's zone; nil: none is to come
	StartAt, EndAt  *time.Time // in the schedule's zone
	PausedAt        *time.Time
	PausedBy        string
	RemovedAt       *time.Time
	Declared        bool        // in the code of some program
	Warning         string      // of the retry policy, "" none
	Error           string      // why it cannot fire, "" it can
	Fires           []FireProps // newest first, at most 20
}

// FireProps is one fire, or a run by hand.
type FireProps struct {
	At             time.Time // in the schedule's zone
	Job            string    // id, linked; "" it made none, or retention removed it
	Outcome        string    // enqueued, skipped, waiting
	State          State     // of the job; "" without one
	Attempt, Retry int       // starts so far, retries used
	MaxRetries     *int      // nil: unknown
	Note           string
}

// RecurringOneProps is the page of one recurring job.
type RecurringOneProps struct {
	RecurringRowProps
	Priority             int
	Misfire, Overlap     string         // as stored: run_once, run_all, skip; allow, skip, queue_one
	Policy               string         // JSON; "" the kind's
	Timeout              *time.Duration // nil: the kind's
	Args                 string         // JSON as stored, all digits
	CreatedAt, UpdatedAt time.Time
	Form                 RecurringFormProps
}

// RecurringFormProps is the form of a recurring job, filled with what was typed.
type RecurringFormProps struct {
	New               bool // the id and the kind can be typed
	ID, Kind, Queue   string
	Spec, Zone        string
	Misfire, Overlap  string            // as stored
	Start, End        string            // in Zone; "" no limit
	Args              string            // JSON
	ArgsKept          bool              // too large for a form: there is no field, the stored ones stay
	Paused, WasPaused bool              // ticked; and when the form was drawn
	Removed           bool              // saving brings it back
	Declared          bool              // in code
	Seen              string            // names the version that the form was drawn from
	Errors            map[string]string // by the name of the field; "" for the whole form
	Preview           *PreviewProps
	Kinds             []string // known ones, offered while the kind can be typed
}

// PreviewProps is what a form's schedule means, before it is saved.
type PreviewProps struct {
	Words string      // in the reader's language
	Fires []time.Time // in the schedule's zone, soonest first; none: it never fires again
}

// RecurringConfirmProps asks whether a recurring job is to be removed.
type RecurringConfirmProps struct {
	RecurringRowProps
	Back string // local URL of the cancel link
}
