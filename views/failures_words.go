package views

import (
	"strconv"
	"strings"
)

func failuresLead(p FailuresProps) string {
	s := Count{N: p.JobsTotal, AtLeast: p.AtLeast}.of(en, "1 failed job", "%s failed jobs") + " in " + plural(p.GroupsTotal, "group") + "."
	if p.AtLeast {
		s += " Only the newest " + number(p.JobsTotal) + " were looked at."
	}
	return s
}

func (g FailureProps) filter() ListFilter {
	return ListFilter{State: Failed, Kind: g.Kind, Group: g.Group}
}

func (g FailureProps) line() string {
	if g.ErrorLine == "" {
		return "no message"
	}
	return g.ErrorLine
}

// nature says whether trying again may help.
func (g FailureProps) nature() string {
	switch {
	case g.Permanent == g.N:
		return "permanent: no retry was allowed"
	case g.Exhausted == g.N:
		return "transient: retries were used up"
	case g.Permanent+g.Exhausted == 0:
		return "ended without an answer of its handler"
	}
	var parts []string
	for _, p := range []struct {
		n    int64
		word string
	}{{g.Permanent, "permanent"}, {g.Exhausted, "retries used up"}, {g.N - g.Permanent - g.Exhausted, "other"}} {
		if p.n > 0 {
			parts = append(parts, number(p.n)+" "+p.word)
		}
	}
	return strings.Join(parts, ", ")
}

// attempts are the shares by the attempt that failed last.
func (g FailureProps) attempts() string {
	var parts []string
	for i, n := range g.ByAttempt {
		if n == 0 {
			continue
		}
		at := strconv.Itoa(i + 1)
		if i == len(g.ByAttempt)-1 {
			at += "+"
		}
		parts = append(parts, at+": "+percent(n, g.N))
	}
	return strings.Join(parts, ", ")
}

func (g FailureProps) trend() string {
	day, hour := int64(0), g.Hours[len(g.Hours)-1]
	for _, n := range g.Hours {
		day += n
	}
	return number(day) + " in 24 h, " + number(hour) + " in the last hour"
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

func (p FailureConfirmProps) heading() string {
	if p.Do == "unmute" {
		return "Show this group of " + plural(p.N, "failed job") + " again?"
	}
	return "Mute this group of " + plural(p.N, "failed job") + "?"
}

func (p FailureConfirmProps) effect() string {
	if p.Do == "unmute" {
		return "It is listed with the other failures again, and the verdict counts it."
	}
	return "The jobs stay failed, and jobs that fail the same way later join them. They are kept apart and the verdict no longer counts them, until somebody unmutes the group."
}

func (p FailureConfirmProps) button() string {
	if p.Do == "unmute" {
		return "Unmute the group"
	}
	return "Mute the group"
}
