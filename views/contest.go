package views

import (
	"strconv"
	"time"

	"github.com/tekrar/tekrar/views/locale"
)

// axisW is the width of the contenders' axis in its own units; the SVG is stretched
// to its box, so that words stay outside of it.
const axisW = 1000

// contest is the common time of all contenders of a claim.
type contest struct {
	from, to time.Time
	now      time.Time
	all      []Contender
}

func contestOf(all []Contender, now time.Time) contest {
	a := contest{now: now, all: all}
	for i, c := range all {
		if i == 0 || c.RunFrom.Before(a.from) {
			a.from = c.RunFrom
		}
		if end := a.end(c); end.After(a.to) {
			a.to = end
		}
	}
	if a.to.Sub(a.from) < time.Millisecond {
		a.to = a.from.Add(time.Millisecond)
	}
	return a
}

// end is when a contender stopped; what runs does so until now.
func (a contest) end(c Contender) time.Time {
	if c.RunTo == nil {
		return a.now
	}
	return *c.RunTo
}

func (a contest) x(t time.Time) float64 {
	return min(axisW, max(0, float64(t.Sub(a.from))/float64(a.to.Sub(a.from))*axisW))
}

// bar is a rectangle of the axis. What is too short to be seen gets a width of 3.
type bar struct{ x, w string }

func (a contest) bar(from, to time.Time) bar {
	x, end := a.x(from), a.x(to)
	w := max(3, end-x)
	return bar{coord(min(x, axisW-w)), coord(w)}
}

func (a contest) run(c Contender) bar { return a.bar(c.RunFrom, a.end(c)) }

func (a contest) held(c Contender) bar {
	to := a.end(c)
	if c.HeldTo != nil {
		to = *c.HeldTo
	}
	return a.bar(*c.HeldFrom, to)
}

// call of a contender; one without an answer lasts no longer than the contender.
func (a contest) call(c Contender, s CallSpan) bar {
	to := a.end(c)
	if s.To != nil {
		to = *s.To
	}
	return a.bar(s.From, to)
}

// overlap is a time in which two contenders ran at once.
type overlap struct {
	from, to time.Time
	a, b     Contender
}

// overlaps are those of contenders that follow each other in the order of their start.
func (a contest) overlaps() (out []overlap) {
	for i := range a.all {
		for j := i + 1; j < len(a.all); j++ {
			from, to := a.all[i].RunFrom, a.end(a.all[i])
			if a.all[j].RunFrom.After(from) {
				from = a.all[j].RunFrom
			}
			if end := a.end(a.all[j]); end.Before(to) {
				to = end
			}
			if to.After(from) {
				out = append(out, overlap{from, to, a.all[i], a.all[j]})
			}
		}
	}
	return out
}

func (c Contender) words(in *locale.Locale) string {
	return holderWords(in, c.Job, c.Attempt, clip(c.Holder, 60))
}

// summary is the axis in a sentence.
func (a contest) summary(in *locale.Locale) string {
	both := a.overlaps()
	switch {
	case len(both) > 0:
		o := both[0]
		text := in.Say("Double run: %s and %s ran at the same time for %s.", o.a.words(in), o.b.words(in), in.Duration(o.to.Sub(o.from)))
		if len(both) > 1 {
			text += " " + in.Plural(int64(len(both)-1), "1 overlap more.", "%d overlaps more.")
		}
		return text
	case len(a.all) == 1:
		return in.Say("One contender, %s.", a.all[0].words(in))
	}
	return in.Say("%d contenders, one after the other.", len(a.all))
}

// labels are the ends of the axis and its middle.
func (a contest) labels(in *locale.Locale) []string {
	span := a.to.Sub(a.from)
	return []string{in.Millis(a.from), "+ " + in.Duration(span/2), "+ " + in.Duration(span)}
}

func (a contest) box() string { return "0 0 " + strconv.Itoa(axisW) + " 24" }
