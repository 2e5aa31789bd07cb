package views

import (
	"strconv"
	"strings"

	"github.com/tekrar/tekrar/views/locale"
)

func failuresLead(in *locale.Locale, p FailuresProps) string {
	return in.Say("%s in %s.", in.Plural(p.JobsTotal, "1 failed job", "%d failed jobs"), in.Plural(p.GroupsTotal, "1 group", "%d groups"))
}

func (g FailureProps) filter() ListFilter {
	return ListFilter{State: Failed, Kind: g.Kind, Group: g.Group}
}

func (g FailureProps) line(in *locale.Locale) string {
	if g.ErrorLine == "" {
		return in.Say("no message")
	}
	return g.ErrorLine
}

// nature says whether trying again may help.
func (g FailureProps) nature(in *locale.Locale) string {
	switch {
	case g.Permanent == g.N:
		return in.Say("permanent: no retry was allowed")
	case g.Exhausted == g.N:
		return in.Say("transient: retries were used up")
	case g.Permanent+g.Exhausted == 0:
		return in.Say("ended without an answer of its handler")
	}
	var parts []string
	for _, p := range []struct {
		n     int64
		words string
	}{
		{g.Permanent, locale.Sentence("%d permanent")}, {g.Exhausted, locale.Sentence("%d retries used up")},
		{g.N - g.Permanent - g.Exhausted, locale.Sentence("%d other")},
	} {
		if p.n > 0 {
			parts = append(parts, in.Say(p.words, p.n))
		}
	}
	return strings.Join(parts, ", ")
}

// attempts are the shares by the attempt that failed last.
func (g FailureProps) attempts(in *locale.Locale) string {
	var parts []string
	for i, n := range g.ByAttempt {
		if n == 0 {
			continue
		}
		at := strconv.Itoa(i + 1)
		if i == len(g.ByAttempt)-1 {
			at += "+"
		}
		parts = append(parts, at+": "+in.Percent(n, g.N))
	}
	return strings.Join(parts, ", ")
}

func (g FailureProps) trend(in *locale.Locale) string {
	day, hour := int64(0), g.Hours[len(g.Hours)-1]
	for _, n := range g.Hours {
		day += n
	}
	return in.Say("%d in 24 h, %d in the last hour", day, hour)
}

type failureBar struct{ x, h int }

// bars are the last 24 hours; the highest fills the picture, none is invisible.
func (g FailureProps) bars() (out []failureBar) {
	top := int64(1)
	for _, n := range g.Hours {
		top = max(top, n)
	}
	for i, n := range g.Hours {
		if n > 0 {
			out = append(out, failureBar{i * 4, int(max(2, n*24/top))})
		}
	}
	return out
}

func (p FailureConfirmProps) heading(in *locale.Locale) string {
	if p.Do == "unmute" {
		return in.Plural(p.N, "Show this group of 1 failed job again?", "Show this group of %d failed jobs again?")
	}
	return in.Plural(p.N, "Mute this group of 1 failed job?", "Mute this group of %d failed jobs?")
}

func (p FailureConfirmProps) effect(in *locale.Locale) string {
	if p.Do == "unmute" {
		return in.Say("It is listed with the other failures again, and the verdict counts it.")
	}
	return in.Say("The jobs stay failed, and jobs that fail the same way later join them. They are kept apart and the verdict no longer counts them, until somebody unmutes the group.")
}

func (p FailureConfirmProps) button(in *locale.Locale) string {
	if p.Do == "unmute" {
		return in.Say("Unmute the group")
	}
	return in.Say("Mute the group")
}
