package views

import (
	"fmt"
	"strings"
	"time"
)

// rowShape is the sprite symbol and class of a history row.
func rowShape(h HistoryProps) string {
	return shape(h.State, strings.HasPrefix(h.Reason, "Retry attempt"))
}

func rowWord(h HistoryProps) string {
	if h.State == Late {
		return "late result"
	}
	return string(h.State)
}

// rowFacts is what is measured of a row, in one line.
// What the line to the older row says already is left out.
func rowFacts(h HistoryProps, older State) string {
	var parts []string
	if h.Latency != nil && older != Enqueued {
		parts = append(parts, "started "+duration(*h.Latency)+" after it was enqueued")
	}
	if h.Duration != nil && older != Processing {
		parts = append(parts, "took "+duration(*h.Duration))
	}
	if h.Server != "" {
		s := "server " + clip(h.Server, 60)
		if h.Worker != nil {
			s += fmt.Sprintf(", worker %d", *h.Worker)
		}
		parts = append(parts, s)
	}
	if h.Actor != "" && !strings.Contains(h.Reason, h.Actor) {
		parts = append(parts, "by "+clip(h.Actor, 60))
	}
	if h.FreshBudget {
		parts = append(parts, "retries start anew")
	}
	return strings.Join(parts, " · ")
}

// rowAttempt names the attempt that a row ended or started, or the one it waits for.
func rowAttempt(h HistoryProps) string {
	if h.State == Enqueued || h.State == Scheduled {
		return fmt.Sprintf("for attempt %d", h.Attempt+1)
	}
	if h.Attempt == 0 {
		return ""
	}
	return fmt.Sprintf("attempt %d", h.Attempt)
}

func stateBelow(rows []HistoryProps, i int) State {
	if i+1 >= len(rows) {
		return ""
	}
	return rows[i+1].State
}

func shownOf(p JobProps) string {
	if p.HistoryTotal > len(p.History) {
		return fmt.Sprintf("%s of %s.", number(int64(len(p.History))), plural(int64(p.HistoryTotal), "row"))
	}
	return plural(int64(len(p.History)), "row") + ", the whole history."
}

func optional(d *time.Duration) string {
	if d == nil {
		return "–"
	}
	return duration(*d)
}
