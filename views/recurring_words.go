package views

import (
	"fmt"
	"strconv"
	"time"
)

// overdueAfter is how long after its time a fire may still be on its way: servers
// look once a second, and the page is a little older than the database.
const overdueAfter = 10 * time.Second

// standing is where a recurring job stands, in a shape and a word.
type standing struct {
	shape, word string
	by          string
	at          *time.Time
	more        string
}

func (r RecurringRowProps) standing(now time.Time) standing {
	switch {
	case r.RemovedAt != nil:
		return standing{shape: "deleted", word: "removed", at: r.RemovedAt}
	case r.PausedAt != nil:
		return standing{shape: "retrying", word: "paused", by: r.PausedBy, at: r.PausedAt}
	case r.Error != "" && r.Next == nil:
		return standing{shape: "failed", word: "cannot fire", more: "given up"}
	case r.Error != "":
		return standing{shape: "failed", word: "cannot fire", more: "tried again"}
	case r.Next == nil:
		return standing{shape: "enqueued", word: "ended", more: "no fire is to come"}
	case now.Sub(*r.Next) > overdueAfter:
		return standing{shape: "failed", word: "overdue", more: "no server fires it"}
	case r.StartAt != nil && now.Before(*r.StartAt):
		return standing{shape: "scheduled", word: "not started"}
	}
	return standing{shape: "succeeded", word: "active"}
}

// icon of a standing; the shapes of a pause and of a running schedule are not those
// of a job's states.
func (s standing) icon() string {
	switch s.word {
	case "paused":
		return "paused"
	case "overdue":
		return "warn"
	case "ended":
		return "deleted"
	}
	return s.shape
}

// nextFire is the fire that a page may promise: none while it is paused or removed
// (CRN-17).
func (r RecurringRowProps) nextFire() *time.Time {
	if r.PausedAt != nil || r.RemovedAt != nil || r.Error != "" {
		return nil
	}
	return r.Next
}

// meaning is the schedule in words, or the expression where it cannot be read.
func (r RecurringRowProps) meaning() string {
	if r.Words == "" {
		return "“" + r.Spec + "” cannot be read"
	}
	return r.Words
}

// goes is what the button beside "Run now" does: resume also makes a broken one try
// again. There is nothing to stop about one that has ended.
func (r RecurringRowProps) goes() (do, label string) {
	switch {
	case r.PausedAt != nil:
		return "resume", "Resume"
	case r.Error != "":
		return "resume", "Try again"
	case r.Next == nil:
		return "", ""
	}
	return "pause", "Pause"
}

// words say what became of a fire.
func (f FireProps) words() string {
	switch f.Outcome {
	case "skipped":
		return "skipped"
	case "waiting":
		return "waiting"
	}
	switch f.State {
	case Succeeded:
		if f.Attempt > 1 {
			return fmt.Sprintf("succeeded at attempt %d", f.Attempt)
		}
	case Failed:
		if f.Attempt > 1 {
			return fmt.Sprintf("failed after %d attempts", f.Attempt)
		}
	case Processing:
		if f.Retry > 0 {
			return "running, retry " + f.retryOf()
		}
		return "running"
	case Scheduled, Enqueued:
		if f.Retry > 0 {
			return "retrying " + f.retryOf()
		}
	case "":
		return "enqueued, its job is gone"
	}
	return string(f.State)
}

// retryOf is "2 of 3": the retry that comes or runs, of those the policy allows.
func (f FireProps) retryOf() string {
	if f.MaxRetries == nil {
		return strconv.Itoa(f.Retry)
	}
	return fmt.Sprintf("%d of %d", f.Retry, max(f.Retry, *f.MaxRetries))
}

// shape is the symbol of a fire, colour its class.
func (f FireProps) shape() string {
	switch {
	case f.Outcome == "skipped":
		return "skipped"
	case f.Outcome == "waiting":
		return "paused"
	case f.State == "":
		return "late"
	case f.Retry > 0 && f.State == Enqueued:
		return "retrying"
	}
	return shape(f.State, f.Retry > 0)
}

func (f FireProps) colour() string {
	switch f.shape() {
	case "skipped", "late":
		return "deleted"
	case "paused":
		return "scheduled"
	}
	return f.shape()
}

// title says everything about a fire that its mark can only hint at.
func (f FireProps) title() string {
	t := whole(f.At.UTC()) + " UTC: " + f.words()
	if f.Note != "" {
		t += " (" + clip(f.Note, 160) + ")"
	}
	return t
}

// whole is a wall-clock time to the second; a fraction is written only if there is one.
func whole(t time.Time) string { return t.Format("2006-01-02 15:04:05.999999") }

// local is the time in its own zone, "" when that is UTC and would say it twice.
func local(t time.Time) string {
	if _, offset := t.Zone(); offset == 0 && t.Location().String() == "UTC" {
		return ""
	}
	return t.Format("2006-01-02 15:04:05.999999 MST")
}

var misfireWords = map[string]string{
	"run_once": "run once: one job stands for all missed fires",
	"run_all":  "run all: one job for each missed fire, at most 1,000",
	"skip":     "skip: missed fires are dropped, unless the latest is under 30 s late",
}

var overlapWords = map[string]string{
	"allow":     "allow: every fire makes a job",
	"skip":      "skip: a fire is dropped while an earlier job has not finished",
	"queue_one": "queue one: one fire waits for the earlier job, further ones are dropped",
}

// The choices of a form, short enough for a closed list.
var (
	misfireChoices = []fieldLabel{{"run_once", "one job for all missed"}, {"run_all", "one job for each missed"}, {"skip", "skip what was missed"}}
	overlapChoices = []fieldLabel{{"allow", "make a job all the same"}, {"skip", "skip the fire"}, {"queue_one", "let one fire wait"}}
)

// ruleWords are the words of a stored rule, or the rule itself when it is unknown.
func ruleWords(words map[string]string, rule string) string {
	if w, ok := words[rule]; ok {
		return w
	}
	return rule
}

// wrong are the labels of the fields that need another look, in the form's order.
func (f RecurringFormProps) wrong() (labels []string) {
	for _, field := range recurringFields {
		if f.Errors[field.name] != "" {
			labels = append(labels, field.label)
		}
	}
	return labels
}

type fieldLabel struct{ name, label string }

var recurringFields = []fieldLabel{
	{"id", "Id"}, {"kind", "Kind"}, {"spec", "Schedule"}, {"zone", "Time zone"}, {"queue", "Queue"}, {"misfire", "Missed fires"},
	{"overlap", "Overlap"}, {"start", "Start"}, {"end", "End"}, {"args", "Args"},
}

func labelOf(name string) string {
	for _, f := range recurringFields {
		if f.name == name {
			return f.label
		}
	}
	return name
}

func stampOr(t *time.Time) string {
	if t == nil {
		return ""
	}
	return whole(t.UTC()) + " UTC"
}
