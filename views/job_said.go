package views

import (
	"strconv"
	"time"

	"github.com/tekrar/tekrar/views/locale"
)

// SaidProps is what a job's handler said while it ran.
type SaidProps struct {
	Version  int64 // grows with every word
	Log      []LogLineProps
	LogTotal int
	Progress *ProgressProps // nil: none reported
}

// LogLineProps is one line of a job's log.
type LogLineProps struct {
	At      time.Time
	Attempt int
	Line    string
}

// ProgressProps is how far an attempt says it is; Total 0: unknown.
type ProgressProps struct {
	At          time.Time
	Attempt     int
	Done, Total int64
	Message     string
}

func progressWords(in *locale.Locale, g ProgressProps) string {
	words := in.Number(g.Done)
	if g.Total > 0 {
		words = in.Say("%d of %d", g.Done, g.Total)
	}
	if g.Message != "" {
		words += ": " + g.Message
	}
	return words
}

// digits is a number for an attribute, without separators.
func digits(n int64) string { return strconv.FormatInt(n, 10) }

// newestResult is the result of the last success.
func newestResult(history []HistoryProps) string {
	for _, h := range history {
		if h.State == Succeeded {
			return h.Result
		}
	}
	return ""
}
