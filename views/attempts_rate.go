package views

import (
	"fmt"
	"strings"

	"github.com/tekrar/tekrar/views/locale"
)

// rateFloor is the bottom of the rate's axis in percent, so that 98 % and 92 % look
// apart. The band may run out of it below; rate and baseline never do.
func rateFloor(p ChartProps) int {
	low := 1.0
	for _, b := range p.Buckets {
		if b.First > 0 {
			low = min(low, float64(b.FirstOK)/float64(b.First))
		}
		if b.Rate.Baseline > 0 {
			low = min(low, b.Rate.Baseline)
		}
	}
	switch {
	case low >= 0.9:
		return 90
	case low >= 0.5:
		return 50
	}
	return 0
}

// rateY is where a rate stands in the box, held within it.
func rateY(rate float64, floor int) float64 {
	f := float64(floor) / 100
	return min(max((1-(rate-f)/(1-f))*(rateH-2)+1, 1), rateH-1)
}

// stepLine steps through the buckets' values.
func stepLine(p ChartProps, value func(Bucket) (float64, bool)) string {
	floor := rateFloor(p)
	return gapped(p.Buckets, value, func(i int, v float64) string {
		return fmt.Sprintf("%d %sh10", i*step, coord(rateY(v, floor)))
	})
}

func rateLine(p ChartProps) string { return stepLine(p, firstRate) }

func baselineLine(p ChartProps) string {
	return stepLine(p, func(b Bucket) (float64, bool) { return b.Rate.Baseline, b.Rate.Baseline > 0 })
}

// rateBand is a rectangle a bucket, from the lower to the upper end of its interval.
func rateBand(p ChartProps) string {
	var d strings.Builder
	floor := rateFloor(p)
	for i, b := range p.Buckets {
		if b.First == 0 || b.Rate.High == 0 {
			continue
		}
		top, bottom := rateY(b.Rate.High, floor), rateY(b.Rate.Low, floor)
		fmt.Fprintf(&d, "M%d %sh10v%sh-10z", i*step, coord(top), coord(bottom-top))
	}
	return d.String()
}

// share is a fraction in percent with one decimal.
func share(in *locale.Locale, f float64) string { return in.Say("%s %%", in.Decimal(f*100, 1)) }

// bandWords is the interval of a rate.
func bandWords(in *locale.Locale, r RateProps) string {
	if r.High == 0 || r.Low == 0 && r.High == 1 {
		return "–"
	}
	return in.Say("%s–%s %%", in.Decimal(r.Low*100, 1), in.Decimal(r.High*100, 1))
}

func baselineWords(in *locale.Locale, r RateProps) string {
	if r.Baseline == 0 {
		return "–"
	}
	return share(in, r.Baseline)
}

// warningText is the sentence of the early warning.
func warningText(in *locale.Locale, w WarningProps) string {
	now, usual := in.Percent(w.FirstOK, w.First), share(in, w.Baseline)
	if !w.Began {
		return in.Say("First attempts succeed less often than usual for hours: %s of %d lately; usual are %s.", now, w.First, usual)
	}
	return in.Say("First attempts succeed less often than usual since %s %s: %s of %d lately; usual are %s.", in.Clock(w.Since), in.Zone(), now, w.First, usual)
}
