package views

import (
	"time"

	"github.com/tekrar/tekrar/views/locale"
)

// overdueAfter is how long after its time a fire may still be on its way: servers
// look once a second, and the page is a little older than the database.
const overdueAfter = 10 * time.Second

// standing is where a recurring job stands, in a shape and a word; word and more are
// keys of the catalogue.
type standing struct {
	shape, word string
	by          string
	at          *time.Time
	more        string
}

func (r RecurringRowProps) standing(now time.Time) standing {
	switch {
	case r.RemovedAt != nil:
		return standing{shape: "deleted", word: locale.Sentence("removed"), at: r.RemovedAt}
	case r.PausedAt != nil:
		return standing{shape: "retrying", word: locale.Sentence("paused"), by: r.PausedBy, at: r.PausedAt}
	case r.Error != "" && r.Next == nil:
		return standing{shape: "failed", word: locale.Sentence("cannot fire"), more: locale.Sentence("given up")}
	case r.Error != "":
		return standing{shape: "failed", word: locale.Sentence("cannot fire"), more: locale.Sentence("tried again")}
	case r.Next == nil:
		return standing{shape: "enqueued", word: locale.Sentence("ended"), more: locale.Sentence("no fire is to come")}
	case now.Sub(*r.Next) > overdueAfter:
		return standing{shape: "failed", word: locale.Sentence("overdue"), more: locale.Sentence("no server fires it")}
	case r.StartAt != nil && now.Before(*r.StartAt):
		return standing{shape: "scheduled", word: locale.Sentence("not started")}
	}
	return standing{shape: "succeeded", word: locale.Sentence("active")}
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
func (r RecurringRowProps) meaning(in *locale.Locale) string {
	if r.Words == "" {
		return in.Say("“%s” cannot be read", r.Spec)
	}
	return r.Words
}

// goes is what the button beside "Run now" does: resume also makes a broken one try
// again. There is nothing to stop about one that has ended. The label is a key of the
// catalogue.
func (r RecurringRowProps) goes() (do, label string) {
	switch {
	case r.PausedAt != nil:
		return "resume", locale.Sentence("Resume")
	case r.Error != "":
		return "resume", locale.Sentence("Try again")
	case r.Next == nil:
		return "", ""
	}
	return "pause", locale.Sentence("Pause")
}

// words say what became of a fire.
func (f FireProps) words(in *locale.Locale) string {
	switch f.Outcome {
	case "skipped":
		return in.Say("skipped")
	case "waiting":
		return in.Say("waiting")
	}
	switch f.State {
	case Succeeded:
		if f.Attempt > 1 {
			return in.Say("succeeded at attempt %d", f.Attempt)
		}
	case Failed:
		if f.Attempt > 1 {
			return in.Say("failed after %d attempts", f.Attempt)
		}
	case Processing:
		if f.Retry > 0 {
			return in.Say("running, retry %s", f.retryOf(in))
		}
		return in.Say("running")
	case Scheduled, Enqueued:
		if f.Retry > 0 {
			return in.Say("retrying %s", f.retryOf(in))
		}
	case "":
		return in.Say("enqueued, its job is gone")
	}
	return stateName(in, f.State)
}

// retryOf is "2 of 3": the retry that comes or runs, of those the policy allows.
func (f FireProps) retryOf(in *locale.Locale) string {
	if f.MaxRetries == nil {
		return in.Number(int64(f.Retry))
	}
	return in.Say("%d of %d", f.Retry, max(f.Retry, *f.MaxRetries))
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
func (f FireProps) title(in *locale.Locale) string {
	t := in.Whole(f.At) + ": " + f.words(in)
	if f.Note != "" {
		t += " (" + clip(f.Note, 160) + ")"
	}
	return t
}

var misfireWords = map[string]string{
	"run_once": locale.Sentence("run once: one job stands for all missed fires"),
	"run_all":  locale.Sentence("run all: one job for each missed fire, at most 1,000"),
	"skip":     locale.Sentence("skip: missed fires are dropped, unless the latest is under 30 s late"),
}

var overlapWords = map[string]string{
	"allow":     locale.Sentence("allow: every fire makes a job"),
	"skip":      locale.Sentence("skip: a fire is dropped while an earlier job has not finished"),
	"queue_one": locale.Sentence("queue one: one fire waits for the earlier job, further ones are dropped"),
}

// The choices of a form, short enough for a closed list.
var (
	misfireChoices = []fieldLabel{{"run_once", locale.Sentence("one job for all missed")}, {"run_all", locale.Sentence("one job for each missed")}, {"skip", locale.Sentence("skip what was missed")}}
	overlapChoices = []fieldLabel{{"allow", locale.Sentence("make a job all the same")}, {"skip", locale.Sentence("skip the fire")}, {"queue_one", locale.Sentence("let one fire wait")}}
)

// ruleWords are the words of a stored rule, or the rule itself when it is unknown.
func ruleWords(in *locale.Locale, words map[string]string, rule string) string {
	if w, ok := words[rule]; ok {
		return in.Say(w)
	}
	return rule
}

// wrong are the labels of the fields that need another look, in the form's order.
func (f RecurringFormProps) wrong(in *locale.Locale) (labels []string) {
	for _, field := range recurringFields {
		if f.Errors[field.name] != "" {
			labels = append(labels, in.Say(field.label))
		}
	}
	return labels
}

// fieldLabel is a value or a name in a form and how it is called: a key of the catalogue.
type fieldLabel struct{ name, label string }

var recurringFields = []fieldLabel{
	{"id", locale.Sentence("Id")}, {"kind", locale.Sentence("Kind")}, {"spec", locale.Sentence("Schedule")}, {"zone", locale.Sentence("Time zone")}, {"queue", locale.Sentence("Queue")}, {"misfire", locale.Sentence("Missed fires")},
	{"overlap", locale.Sentence("Overlap")}, {"start", locale.Sentence("Start")}, {"end", locale.Sentence("End")}, {"args", locale.Sentence("Args")},
}

func labelOf(in *locale.Locale, name string) string {
	for _, f := range recurringFields {
		if f.name == name {
			return in.Say(f.label)
		}
	}
	return name
}
