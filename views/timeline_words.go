package views

import (
	"strings"
	"time"

	"github.com/tekrar/tekrar/views/locale"
)

// rowShape is the sprite symbol and class of a history row.
func rowShape(h HistoryProps) string {
	return shape(h.State, strings.HasPrefix(h.Reason, "Retry attempt"))
}

func rowWord(in *locale.Locale, h HistoryProps) string {
	if h.State == Late {
		return in.Say("late result")
	}
	return stateName(in, h.State)
}

// rowFacts is what is measured of a row, in one line.
// What the line to the older row says already is left out.
func rowFacts(in *locale.Locale, h HistoryProps, older State) string {
	var parts []string
	if h.Latency != nil && older != Enqueued {
		parts = append(parts, in.Say("started %s after it was enqueued", in.Duration(*h.Latency)))
	}
	if h.Duration != nil && older != Processing {
		parts = append(parts, in.Say("took %s", in.Duration(*h.Duration)))
	}
	switch server := clip(h.Server, 60); {
	case server != "" && h.Worker != nil:
		parts = append(parts, in.Say("server %s, worker %d", server, *h.Worker))
	case server != "":
		parts = append(parts, in.Say("server %s", server))
	}
	if h.Actor != "" && !strings.Contains(h.Reason, h.Actor) {
		parts = append(parts, in.Say("by %s", clip(h.Actor, 60)))
	}
	if h.FreshBudget {
		parts = append(parts, in.Say("retries start anew"))
	}
	return strings.Join(parts, " · ")
}

// rowAttempt names the attempt that a row ended or started, or the one it waits for.
func rowAttempt(in *locale.Locale, h HistoryProps) string {
	if h.State == Enqueued || h.State == Scheduled {
		return in.Say("for attempt %d", h.Attempt+1)
	}
	if h.Attempt == 0 {
		return ""
	}
	return in.Say("attempt %d", h.Attempt)
}

func stateBelow(rows []HistoryProps, i int) State {
	if i+1 >= len(rows) {
		return ""
	}
	return rows[i+1].State
}

func shownOf(in *locale.Locale, p JobProps) string {
	if p.HistoryTotal > len(p.History) {
		return in.Say("%d of %d rows.", len(p.History), p.HistoryTotal)
	}
	return in.Plural(int64(len(p.History)), "1 row, the whole history.", "%d rows, the whole history.")
}

func optional(in *locale.Locale, d *time.Duration) string {
	if d == nil {
		return "–"
	}
	return in.Duration(*d)
}
