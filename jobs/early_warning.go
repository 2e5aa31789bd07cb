package jobs

import (
	"time"

	"github.com/tekrar/tekrar/store"
)

// The rule of the early warning.
const (
	warnFirst   = 50              // first attempts that a window takes to be judged
	warnMargin  = 0.02            // below the baseline by more than this
	warnWindows = 2               // that call it, and that clear it
	warnSlot    = 5 * time.Minute // the shortest window
	warnSilence = 2 * time.Hour   // without a judged window nothing is known any more
)

// WarnedSpan is what EarlyWarning looks back on, in minutes of store.DB.Attempts.
const WarnedSpan = 6 * time.Hour

// Warning says that first attempts succeed less often than usual, although retries
// may still hide it: the jobs succeed, only later.
type Warning struct {
	On bool
	// Since is the begin of the first window that was bad; it names the episode.
	Since time.Time
	// Began: the begin was seen. False: the episode is as old as what was looked at,
	// and began earlier.
	Began bool
	// The newest window that could be judged, while On.
	From, To       time.Time
	First, FirstOK int64
	High           float64 // upper end of the 95 % interval of FirstOK/First
	Baseline       float64
}

// warnWindow is some minutes, taken together.
type warnWindow struct {
	from, to       time.Time
	first, ok      int64
	worst, worstOK int64 // its minute with the most failures
}

// EarlyWarning judges the minutes of store.DB.Attempts(ctx, WarnedSpan,
// time.Minute, …), whose last one is the present minute and is left out, against
// the baseline.
//
// A window is five minutes, or as many times five as it takes to see 50 first
// attempts, within one clock hour. It is bad when the upper end of the 95 % Wilson
// interval of its rate is more than two points below the baseline, also without its
// worst minute, if enough is left then: one bad minute is no outage. It is good when its rate itself is no
// more than two points below. Two bad windows in a row begin an episode, two good
// ones end it, anything between changes nothing; two hours in which no window can
// be judged end it as well. Windows of too few attempts or without a baseline are
// not judged, so a quiet night is silent.
//
// It is pure, and the windows hold to the clock, so that every process that looks
// finds the same begin. Of an episode of more than about five hours the begin is out
// of sight.
func EarlyWarning(minutes []store.AttemptBucket, baseline Baseline) Warning {
	var w Warning
	if len(minutes) < 2 {
		return w
	}
	var bad, good int
	var firstBad, judged time.Time
	minutes, present := minutes[:len(minutes)-1], minutes[len(minutes)-1].At
	begun := minutes[0].At.Add(time.Hour - 1).Truncate(time.Hour)
	for _, one := range windowsFrom(begun, minutes) {
		usual, ok := baseline.At(one.from, one.to.Sub(one.from))
		if !ok {
			continue
		}
		if !judged.IsZero() && one.from.Sub(judged) >= warnSilence {
			w, bad, good = Warning{}, 0, 0
		}
		judged = one.to
		switch {
		case one.bad(usual):
			if bad++; bad == 1 {
				firstBad = one.from
			}
			good = 0
		case float64(one.ok) >= (usual-warnMargin)*float64(one.first):
			good, bad = good+1, 0
		default:
			good, bad = 0, 0
		}
		switch {
		case !w.On && bad >= warnWindows:
			w.On, w.Since, w.Began = true, firstBad, !firstBad.Before(begun.Add(time.Hour))
		case w.On && good >= warnWindows:
			w = Warning{}
		}
		if w.On {
			w.From, w.To, w.First, w.FirstOK, w.Baseline = one.from, one.to, one.first, one.ok, usual
			_, w.High = Wilson(one.ok, one.first)
		}
	}
	if w.On && present.Sub(judged) >= warnSilence {
		return Warning{}
	}
	return w
}

// windowsFrom cuts minutes into windows, from the begin of an hour on.
func windowsFrom(begin time.Time, minutes []store.AttemptBucket) (all []warnWindow) {
	var open warnWindow
	for _, m := range minutes {
		if m.At.Before(begin) {
			continue
		}
		end := m.At.Add(time.Minute)
		if open.from.IsZero() {
			open.from = m.At.Truncate(warnSlot)
		}
		open.add(m)
		if end.Truncate(warnSlot).Equal(end) {
			if open.to = end; open.first >= warnFirst {
				all = append(all, open)
			}
			if open.first == 0 || open.first >= warnFirst {
				open = warnWindow{} // silence is no part of a window
			}
		}
		if end.Truncate(time.Hour).Equal(end) {
			open = warnWindow{} // the few that are left are not judged
		}
	}
	return all
}

func (w *warnWindow) add(m store.AttemptBucket) {
	w.first, w.ok = w.first+m.First, w.ok+m.FirstOK
	if m.First-m.FirstOK > w.worst-w.worstOK {
		w.worst, w.worstOK = m.First, m.FirstOK
	}
}

func (w *warnWindow) bad(usual float64) bool {
	_, high := Wilson(w.ok, w.first)
	if rest := w.first - w.worst; rest >= warnFirst/2 {
		_, without := Wilson(w.ok-w.worstOK, rest)
		high = max(high, without)
	}
	return high < usual-warnMargin
}
