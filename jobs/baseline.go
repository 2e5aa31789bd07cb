package jobs

import (
	"math"
	"slices"
	"time"

	"github.com/tekrar/tekrar/store"
)

// Wilson is the 95 % confidence interval of a success rate, as fractions: with ok
// of n seen, the true rate lies within it in 19 of 20 cases. It holds for small n
// and near 100 %, where the plain interval does not. n 0 says nothing: 0 to 1.
func Wilson(ok, n int64) (low, high float64) {
	if n <= 0 {
		return 0, 1
	}
	const z = 1.959964
	size, p := float64(n), float64(ok)/float64(n)
	middle := (p + z*z/(2*size)) / (1 + z*z/size)
	half := z / (1 + z*z/size) * math.Sqrt(p*(1-p)/size+z*z/(4*size*size))
	return max(0, middle-half), min(1, middle+half)
}

const (
	baselineDays  = 7
	baselineLeast = 3 // days that have something to say; with fewer there is no baseline
)

// Baseline is the first-attempt success rate that is usual at a time of day: the
// median over the seven days before, of the clock hours (UTC) that a window lies in.
// A day with fewer than 50 first attempts then says nothing, and with fewer than
// three days there is no baseline. The zero value has none.
type Baseline struct {
	hours map[time.Time]store.AttemptHour
}

// NewBaseline makes a baseline of what store.DB.AttemptPast read.
func NewBaseline(hours []store.AttemptHour) Baseline {
	b := Baseline{hours: make(map[time.Time]store.AttemptHour, len(hours))}
	for _, h := range hours {
		b.hours[h.At.UTC()] = h
	}
	return b
}

// At is the baseline of the window that begins at from, as a fraction; ok is false
// when there is none.
func (b Baseline) At(from time.Time, width time.Duration) (rate float64, ok bool) {
	var rates []float64
	for day := 1; day <= baselineDays; day++ {
		start := from.UTC().Add(-time.Duration(day) * 24 * time.Hour)
		var sum store.AttemptHour
		for at := start.Truncate(time.Hour); at.Before(start.Add(width)); at = at.Add(time.Hour) {
			h := b.hours[at]
			sum.First, sum.FirstOK = sum.First+h.First, sum.FirstOK+h.FirstOK
		}
		if sum.First >= warnFirst {
			rates = append(rates, float64(sum.FirstOK)/float64(sum.First))
		}
	}
	if len(rates) < baselineLeast {
		return 0, false
	}
	slices.Sort(rates)
	n := len(rates)
	return (rates[(n-1)/2] + rates[n/2]) / 2, true
}
