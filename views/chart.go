package views

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tekrar/tekrar/views/locale"
)

// step is a bucket's width in the chart's own units; plotH and rateH are heights.
// The SVG is stretched to its box, so that words stay outside of it, at reading size.
const (
	step  = 10
	plotH = 100
	rateH = 40
)

func (b Bucket) series() [6]int64 {
	return [6]int64{b.ByAttempt[0], b.ByAttempt[1], b.ByAttempt[2], b.ByAttempt[3], b.Exhausted, b.Permanent}
}

// ceiling is the top of the axis: a round even number, so that its half is whole, at least 4.
func ceiling(p ChartProps) int64 {
	top := int64(0)
	for _, b := range p.Buckets {
		top = max(top, b.finished())
	}
	if top <= 4 {
		return 4
	}
	pow := int64(math.Pow10(len(strconv.FormatInt(top, 10)) - 1))
	for _, tenths := range []int64{10, 12, 16, 20, 24, 30, 40, 50, 60, 80} {
		if n := tenths * pow / 10; n >= top && n%2 == 0 {
			return n
		}
	}
	return 10 * pow
}

// bars is one path a series: a rectangle for each bucket where it is not zero.
func bars(p ChartProps) [6]string {
	var paths [6]strings.Builder
	top := float64(ceiling(p))
	for i, b := range p.Buckets {
		if p.Scale == ScaleShare {
			top = float64(b.finished())
		}
		if top == 0 {
			continue
		}
		base := 0.0
		for s, n := range b.series() {
			if n == 0 {
				continue
			}
			h := float64(n) / top * plotH
			fmt.Fprintf(&paths[s], "M%d %sh8v%sh-8z", i*step+1, coord(plotH-base-h), coord(h))
			base += h
		}
	}
	var out [6]string
	for s := range paths {
		out[s] = paths[s].String()
	}
	return out
}

// coord has two decimals at most: less than a pixel, and short.
func coord(f float64) string { return strconv.FormatFloat(math.Round(f*100)/100, 'f', -1, 64) }

// box is the viewBox of the chart or the rate.
func box(p ChartProps, height int) string {
	return fmt.Sprintf("0 0 %d %d", len(p.Buckets)*step, height)
}

// ticks are the times under the axis, the last one the end of the last bucket.
func ticks(in *locale.Locale, p ChartProps) []string {
	if len(p.Buckets) == 0 {
		return nil
	}
	from := p.Buckets[0].At
	span := time.Duration(len(p.Buckets)) * p.Width
	out := make([]string, 0, 5)
	for i := range 5 {
		at := from.Add(span * time.Duration(i) / 4)
		if span > 48*time.Hour {
			out = append(out, in.Day(at))
		} else {
			out = append(out, in.Clock(at))
		}
	}
	return out
}

// scaleLabels are the top, middle and bottom of the axis.
func scaleLabels(in *locale.Locale, p ChartProps) [3]string {
	if p.Scale == ScaleShare {
		return [3]string{in.Say("%s %%", "100"), in.Say("%s %%", "50"), "0"}
	}
	top := ceiling(p)
	return [3]string{in.Number(top), in.Number(top / 2), "0"}
}

// total adds up the buckets.
func total(p ChartProps) (t Bucket) {
	for _, b := range p.Buckets {
		for i, n := range b.ByAttempt {
			t.ByAttempt[i] += n
		}
		t.Exhausted += b.Exhausted
		t.Permanent += b.Permanent
		t.First += b.First
		t.FirstOK += b.FirstOK
	}
	return t
}

// summary is the chart in one sentence.
func summary(in *locale.Locale, p ChartProps) string {
	t := total(p)
	ok := t.succeeded()
	if ok+t.Exhausted+t.Permanent == 0 {
		return in.Say("Nothing finished in the last %s.", spanWord(in, p.Span))
	}
	succeeded := in.Plural(ok, "In the last %s 1 job succeeded", "In the last %[2]s %[1]d jobs succeeded", spanWord(in, p.Span))
	if ok > 0 {
		parts := make([]string, 0, 4)
		for i, n := range t.ByAttempt {
			if n > 0 {
				parts = append(parts, in.Say(atAttempt[i], in.Percent(n, ok)))
			}
		}
		succeeded += ", " + in.List(parts)
	}
	failed := in.Say("%d failed for good", 0)
	if bad := t.Exhausted + t.Permanent; bad > 0 {
		failed = in.Plural(bad, "1 failed for good (%d with retries used up, %d not retryable)",
			"%d failed for good (%d with retries used up, %d not retryable)", t.Exhausted, t.Permanent)
	}
	return succeeded + "; " + failed + "."
}

// atAttempt says at which attempt a share of the jobs succeeded.
var atAttempt = [...]string{
	locale.Sentence("%s at the first attempt"), locale.Sentence("%s at the second attempt"),
	locale.Sentence("%s at the third attempt"), locale.Sentence("%s at a later attempt"),
}

func spanWord(in *locale.Locale, d time.Duration) string {
	switch {
	case d >= 48*time.Hour && d%(24*time.Hour) == 0:
		return in.Say("%d d", int64(d/(24*time.Hour)))
	case d%time.Hour == 0:
		return in.Say("%d h", int64(d/time.Hour))
	}
	return in.Duration(d)
}

func widthWord(in *locale.Locale, d time.Duration) string {
	if d >= time.Hour && d%time.Hour == 0 {
		return in.Say("%d h", int64(d/time.Hour))
	}
	return in.Say("%d min", int64(d/time.Minute))
}

// bucketTime is a bucket's begin in words: with its day where a range has several.
func bucketTime(in *locale.Locale, p ChartProps, at time.Time) string {
	if p.Span > 24*time.Hour {
		return in.Day(at) + " " + in.Clock(at)
	}
	return in.Clock(at)
}

// segment is one series of one bar, which a pointer can open.
type segment struct {
	x, y, h     string
	title, href string
}

// segments are the parts of all bars that are not empty.
func segments(l Layout, p ChartProps) (all []segment) {
	top := float64(ceiling(p))
	for i, b := range p.Buckets {
		if p.Scale == ScaleShare {
			top = float64(b.finished())
		}
		base := 0.0
		for s, n := range b.series() {
			if n == 0 {
				continue
			}
			h := float64(n) / top * plotH
			all = append(all, segment{
				x: strconv.Itoa(i * step), y: coord(plotH - base - h), h: coord(h), href: seriesJobs(l, p, b, s),
				title: l.Say("%s–%s: %d %s of %d finished", bucketTime(l.Locale, p, b.At), l.Clock(b.At.Add(p.Width)), n, l.Say(seriesNames[s]), b.finished()),
			})
			base += h
		}
	}
	return all
}

// gridLines are the top, middle and bottom, and the quarters of the time.
func gridLines(p ChartProps, height int) string {
	w := len(p.Buckets) * step
	d := fmt.Sprintf("M0 0H%dM0 %dH%dM0 %dH%d", w, height/2, w, height, w)
	for i := 1; i < 4; i++ {
		d += fmt.Sprintf("M%d 0V%d", w*i/4, height)
	}
	return d
}

// spanKey is the span's name in a URL; unknown spans are the default.
func spanKey(d time.Duration) string {
	switch d {
	case time.Hour:
		return "1h"
	case 24 * time.Hour:
		return "24h"
	case 7 * 24 * time.Hour:
		return "7d"
	case 30 * 24 * time.Hour:
		return "30d"
	}
	return "6h"
}
