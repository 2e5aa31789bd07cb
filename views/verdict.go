package views

import (
	"time"

	"github.com/tekrar/tekrar/views/locale"
)

// slowStart is the wait of the oldest enqueued job from which the verdict calls
// it too long. Workers that keep up take a job within milliseconds.
const slowStart = time.Minute

// enoughFirst first attempts make the first-attempt rate worth judging, and
// below lowFirst the verdict warns (dashboard.md asks for 50 as the least). It is the
// rule of systems too young for a baseline.
const (
	enoughFirst = 50
	lowFirst    = 0.90
)

// remark is one sentence about the system, the worst first, with the list that explains it.
type remark struct {
	level string // bad, warn, ok, idle
	text  string
	href  string
}

// remarks judges the numbers. The first one is the verdict.
func remarks(l Layout, h HealthProps) []remark {
	switch {
	case h.LoadFailed:
		return []remark{{"bad", l.Say("The numbers could not be loaded: the database did not answer in time."), l.Here}}
	case h.Never:
		return []remark{{"idle", l.Say("Ready. No job has been enqueued yet."), l.Links.Servers()}}
	}
	out := append(badRemarks(l, h), warnRemarks(l, h)...)
	if len(out) == 0 || out[0].level == "ok" {
		out = append([]remark{{"ok", pace(l.Locale, h), l.Links.Attempts(ChartFilter{})}}, out...)
	}
	return out
}

func badRemarks(l Layout, h HealthProps) (out []remark) {
	if h.LiveServers == 0 && h.Waiting.N > 0 {
		text := h.Waiting.of(l.Locale, "No server is running: 1 job waits.", "No server is running: %s jobs wait.")
		if h.OldestReady != nil {
			text += " " + l.Say("The oldest has waited for %s.", l.Since(*h.OldestReady, l.Now))
		}
		return append(out, remark{"bad", text, l.Links.Servers()})
	}
	if h.OldestReady != nil && len(h.Paused) == 0 && len(h.Unhandled) == 0 && l.Now.Sub(*h.OldestReady) > slowStart {
		out = append(out, remark{"bad", l.Say("Jobs wait too long: the oldest of %s for %s.", h.Waiting.text(l.Locale), l.Since(*h.OldestReady, l.Now)), l.Links.Jobs(Enqueued, "", "", "")})
	}
	return out
}

func warnRemarks(l Layout, h HealthProps) (out []remark) {
	if h.Warning != nil {
		out = append(out, remark{"warn", warningText(l.Locale, *h.Warning), l.Links.Attempts(ChartFilter{Span: "6h"})})
	} else if first, ok := firsts(h.Hour); first >= enoughFirst && float64(ok) < lowFirst*float64(first) {
		out = append(out, remark{"warn", l.Say("Only %s of first attempts succeeded in the last hour.", l.Percent(ok, first)), l.Links.Attempts(ChartFilter{Span: "1h"})})
	}
	if len(h.Unhandled) > 0 {
		out = append(out, remark{"warn", l.Say("No server handles %s; those jobs stay enqueued.", l.List(clipped(l.Locale, h.Unhandled))), l.Links.Jobs(Enqueued, "", "", "")})
	}
	if h.LostServers > 0 {
		out = append(out, remark{"warn", l.Plural(int64(h.LostServers), "1 server lost in the last hour; its jobs were taken over.", "%d servers lost in the last hour; their jobs were taken over."), l.Links.Servers()})
	}
	if len(h.Paused) > 0 {
		out = append(out, remark{"warn", l.Say("Paused: %s.", l.List(clipped(l.Locale, h.Paused))), l.Links.Queues()})
	}
	if failed := (Count{N: h.Failed.N - h.Muted, AtLeast: h.Failed.AtLeast}); failed.N > 0 {
		out = append(out, remark{"warn", failed.of(l.Locale, "1 failed job waits for a decision.", "%s failed jobs wait for a decision."), l.Links.Failures()})
	}
	if h.LiveServers == 0 && h.Waiting.N == 0 {
		out = append(out, remark{"warn", l.Say("No server is running."), l.Links.Servers()})
	}
	return out
}

// pace is the good verdict.
func pace(in *locale.Locale, h HealthProps) string {
	n := finishedPerMinute(h.Hour)
	first, ok := firsts(h.Hour)
	if first == 0 {
		return in.Say("All is well, and quiet: nothing finished in the last hour.")
	}
	return in.Say("All is well: %s jobs a minute finish, %s succeed at the first attempt.", in.Rate(n), in.Percent(ok, first))
}

func firsts(hour []Bucket) (first, ok int64) {
	for _, b := range hour {
		first, ok = first+b.First, ok+b.FirstOK
	}
	return first, ok
}

// finished is how many jobs came to an end in the bucket.
func (b Bucket) finished() int64 { return b.succeeded() + b.Exhausted + b.Permanent }

func (b Bucket) succeeded() int64 {
	return b.ByAttempt[0] + b.ByAttempt[1] + b.ByAttempt[2] + b.ByAttempt[3]
}

// finishedPerMinute is the mean of the last five whole buckets of a minute. The
// current one is left out: it has only begun.
func finishedPerMinute(hour []Bucket) float64 {
	n := len(hour) - 1
	from := max(0, n-5)
	if n <= from {
		return 0
	}
	sum := int64(0)
	for _, b := range hour[from:n] {
		sum += b.finished()
	}
	return float64(sum) / float64(n-from)
}

// perMinute is the mean of the whole hour.
func perMinute(hour []Bucket) float64 {
	sum := int64(0)
	for _, b := range hour {
		sum += b.finished()
	}
	return float64(sum) / 60
}

func clipped(in *locale.Locale, names []string) []string {
	out := make([]string, 0, 4)
	for i, n := range names {
		if i == 3 && len(names) > 4 {
			return append(out, in.Say("%d more", len(names)-3))
		}
		out = append(out, in.Say("“%s”", clip(n, 40)))
	}
	return out
}
