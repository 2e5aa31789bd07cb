package views

import (
	"strings"
	"time"

	"github.com/tekrar/tekrar/views/locale"
)

// sinceWords say since when a job is in its state; slot1 is that time.
func sinceWords(in *locale.Locale, s State) string {
	switch s {
	case Processing:
		return in.Say("running since %s", slot1)
	case Enqueued, Awaiting:
		return in.Say("waiting since %s", slot1)
	case Scheduled:
		return in.Say("scheduled %s", slot1)
	case Succeeded:
		return in.Say("succeeded %s", slot1)
	case Failed:
		return in.Say("failed %s", slot1)
	}
	return in.Say("deleted %s", slot1)
}

func retriesUsed(in *locale.Locale, p JobProps) string {
	if p.MaxRetries == nil {
		return in.Number(int64(p.Retry))
	}
	return in.Say("%d of %d", p.Retry, *p.MaxRetries)
}

func policyFrom(in *locale.Locale, p JobProps) string {
	switch p.PolicyFrom {
	case "job":
		return in.Say("given with this job when it was enqueued")
	case "kind":
		return in.Say("the kind's, as its server published it")
	}
	if p.Policy == "" {
		return in.Say("unknown: no server has published this kind")
	}
	return in.Say("the client's default")
}

// newestError is the newest row that carries an error; nil when none does.
func newestError(rows []HistoryProps) *HistoryProps {
	for i := range rows {
		if rows[i].State == Failed && (rows[i].Error != "" || rows[i].ErrorType != "") {
			return &rows[i]
		}
	}
	return nil
}

// gap is the time between two rows that follow each other, and whether an
// attempt ran in it (thick) or the job waited (thin).
type gap struct {
	text string
	ran  bool
}

// gapBelow is the stretch between row i and the older row i+1.
func gapBelow(in *locale.Locale, rows []HistoryProps, i int) (gap, bool) {
	if i+1 >= len(rows) {
		return gap{}, false
	}
	d := rows[i].At.Sub(rows[i+1].At)
	if d == 0 {
		return gap{text: in.Say("at the same instant")}, true
	}
	if rows[i].State == Late || rows[i+1].State == Late {
		return gap{text: in.Say("%s later", in.Duration(d))}, true
	}
	if rows[i+1].State == Processing {
		return gap{text: in.Say("ran %s", in.Duration(d)), ran: true}, true
	}
	return gap{text: in.Say("waited %s", in.Duration(d))}, true
}

// attemptLine is one attempt put together from its history rows.
type attemptLine struct {
	n         int
	startedAt time.Time
	waited    *time.Duration
	ran       *time.Duration
	server    string
	outcome   string // a sentence of the catalogue
	state     State  // colour and shape
	errType   string
	sameAs    int // the first attempt shown that failed with the same error; 0: none, or no error
	late      bool
}

// attempts groups history rows, newest first, by attempt. A row that only waits
// for its attempt makes no line.
func attempts(rows []HistoryProps) []attemptLine {
	var out []attemptLine
	at, failure := map[int]int{}, map[int64]int{}
	for i := len(rows) - 1; i >= 0; i-- {
		r := rows[i]
		j, seen := at[r.Attempt]
		switch {
		case r.State == Processing:
			at[r.Attempt] = len(out)
			out = append(out, attemptLine{n: r.Attempt, startedAt: r.At, waited: r.Latency, server: r.Server, outcome: locale.Sentence("running"), state: Processing})
		case !seen:
		case r.State == Late:
			out[j].late = true
		case out[j].state == Processing:
			out[j].end(r)
			if r.Failure == 0 {
				break
			}
			if first, seen := failure[r.Failure]; seen {
				out[j].sameAs = first
			} else {
				failure[r.Failure] = r.Attempt
			}
		case out[j].state == Failed && r.State == Scheduled:
			out[j].outcome = locale.Sentence("failed, retried")
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

func (a *attemptLine) end(r HistoryProps) {
	a.state, a.outcome, a.errType = r.State, stateNames[r.State], r.ErrorType
	if a.ran = r.Duration; a.ran == nil {
		d := r.At.Sub(a.startedAt)
		a.ran = &d
	}
	switch r.State {
	case Enqueued:
		a.outcome = locale.Sentence("given back")
		if strings.HasSuffix(r.Reason, " lost") {
			a.outcome = locale.Sentence("server lost")
		}
	case Scheduled:
		a.outcome = locale.Sentence("put off")
	}
}
