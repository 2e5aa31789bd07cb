package views

import (
	"strconv"
	"strings"

	"github.com/tekrar/tekrar/views/locale"
)

var outcomeWords = map[string]string{
	"delivered": locale.Sentence("delivered"), "refused": locale.Sentence("refused"), "unknown": locale.Sentence("unknown"),
	"in_flight": locale.Sentence("in flight"), "key_reused": locale.Sentence("key reused for other content"),
}

// outcome is what the provider's answer meant, as word, class and symbol.
func (r CallRowProps) outcome(in *locale.Locale) claimStanding {
	word := clip(r.Outcome, 40)
	if w, ok := outcomeWords[r.Outcome]; ok {
		word = in.Say(w)
	}
	switch {
	case !r.Ended:
		return claimStanding{in.Say("no answer on record"), "processing", "processing"}
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
func (r CallRowProps) facts(in *locale.Locale) string {
	out := []string{clip(r.Provider, 40)}
	if r.Status != 0 {
		out = append(out, r.status())
	}
	if r.Ended {
		out = append(out, in.Duration(r.Duration))
	}
	if r.Reference != "" {
		out = append(out, clip(r.Reference, 60))
	}
	if r.Replayed {
		out = append(out, in.Say("replayed"))
	}
	return strings.Join(out, ", ")
}

// callTile is a number of the last 24 hours.
type callTile struct{ label, value, sub, class string }

func (s CallStatsProps) tiles(in *locale.Locale) []callTile {
	out := []callTile{
		{label: in.Say("Delivered"), value: in.Percent(s.Delivered, s.Answered)},
		{label: in.Say("Replayed"), value: in.Percent(s.Replayed, s.Delivered), sub: in.Say("of %d deliveries", s.Delivered)},
		{label: in.Say("95 %% answer within"), value: "–", sub: in.Say("no answer in 24 h")},
		{label: in.Say("Duplicates"), value: s.Duplicates.text(in), sub: in.Say("no effect too many in 24 h")},
	}
	if s.LoadFailed {
		for i := range out {
			out[i].value, out[i].sub = "–", in.Say("not loaded")
		}
		return out
	}
	out[0].sub = in.Say("of %d answers in 24 h", s.Answered)
	if s.Calls.AtLeast {
		out[0].sub = in.Say("of the newest %d answers", s.Answered)
	}
	if s.Answered > 0 {
		out[2].value, out[2].sub = in.Duration(s.P95), out[0].sub
	}
	if s.Duplicates.N > 0 {
		out[3].sub, out[3].class = in.Say("effects too many in 24 h"), "st-failed"
	}
	return out
}

// words say what is wrong, before the keys.
func (w CallWarning) words(in *locale.Locale) string {
	switch w.Kind {
	case "payloads":
		return in.Say("One key was sent with %d different contents. New content needs a new version of the key:", w.N)
	case "keys":
		return in.Say("One content was sent under %d keys, so the key may change from run to run:", w.N)
	}
	return in.Say("One key brought %d deliveries with different references, none of them replayed:", w.N)
}

// title says which calls the page lists.
func (p CallsProps) title(in *locale.Locale) string {
	switch {
	case p.Key != "":
		return in.Say("Calls of %s", clip(p.Key, 120))
	case p.Job != "":
		return in.Say("Calls of job %s", p.Job)
	}
	return in.Say("Calls")
}
