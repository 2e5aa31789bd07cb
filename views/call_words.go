package views

import (
	"strconv"
	"strings"
)

var outcomeWords = map[string]string{"in_flight": "in flight", "key_reused": "key reused for other content"}

// outcome is what the provider's answer meant, as word, class and symbol.
func (r CallRowProps) outcome() claimStanding {
	word := clip(r.Outcome, 40)
	if w, ok := outcomeWords[r.Outcome]; ok {
		word = w
	}
	switch {
	case !r.Ended:
		return claimStanding{"no answer on record", "processing", "processing"}
	case r.Outcome == "delivered":
		return claimStanding{word, "succeeded", "succeeded"}
	case r.Outcome == "unknown":
		return claimStanding{word, "late", "late"}
	case r.Outcome == "in_flight":
		return claimStanding{word, "retrying", "retrying"}
	}
	return claimStanding{word, "failed", "failed"}
}

func (r CallRowProps) status() string {
	if r.Status == 0 {
		return "–"
	}
	return strconv.Itoa(r.Status)
}

// facts are status, duration, reference and whether it was replayed, as far as known.
func (r CallRowProps) facts() string {
	out := []string{clip(r.Provider, 40)}
	if r.Status != 0 {
		out = append(out, r.status())
	}
	if r.Ended {
		out = append(out, duration(r.Duration))
	}
	if r.Reference != "" {
		out = append(out, clip(r.Reference, 60))
	}
	if r.Replayed {
		out = append(out, "replayed")
	}
	return strings.Join(out, ", ")
}

// callTile is a number of the last 24 hours.
type callTile struct{ label, value, sub, class string }

func (s CallStatsProps) tiles() []callTile {
	if s.LoadFailed {
		return []callTile{{label: "Delivered", value: "–", sub: "not loaded"}, {label: "Replayed", value: "–", sub: "not loaded"}, {label: "95 % answer within", value: "–", sub: "not loaded"}, {label: "Duplicates", value: "–", sub: "not loaded"}}
	}
	of := "of " + number(s.Answered) + " answers in 24 h"
	if s.Calls.AtLeast {
		of = "of the newest " + number(s.Answered) + " answers"
	}
	out := []callTile{
		{label: "Delivered", value: percent(s.Delivered, s.Answered), sub: of},
		{label: "Replayed", value: percent(s.Replayed, s.Delivered), sub: "of " + number(s.Delivered) + " deliveries"},
		{label: "95 % answer within", value: "–", sub: "no answer in 24 h"},
		{label: "Duplicates", value: s.Duplicates.String(), sub: "no effect too many in 24 h"},
	}
	if s.Answered > 0 {
		out[2].value, out[2].sub = duration(s.P95), of
	}
	if s.Duplicates.N > 0 {
		out[3].sub, out[3].class = "effects too many in 24 h", "st-failed"
	}
	return out
}

// words say what is wrong, before the keys.
func (w CallWarning) words() string {
	switch w.Kind {
	case "payloads":
		return "One key was sent with " + number(w.N) + " different contents. New content needs a new version of the key:"
	case "keys":
		return "One content was sent under " + number(w.N) + " keys, so the key may change from run to run:"
	}
	return "One key brought " + number(w.N) + " deliveries with different references, none of them replayed:"
}

// title says which calls the page lists.
func (p CallsProps) title() string {
	switch {
	case p.Key != "":
		return "Calls of " + clip(p.Key, 120)
	case p.Job != "":
		return "Calls of job " + p.Job
	}
	return "Calls"
}
