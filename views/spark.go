package views

import (
	"fmt"
	"strings"
)

// spark draws one value a bucket as a line in a box of 120 by 24. Buckets without
// a value leave a gap; the current bucket, which has only begun, is left out.
func spark(hour []Bucket, value func(Bucket) (float64, bool)) string {
	if len(hour) < 3 {
		return ""
	}
	hour = hour[:len(hour)-1]
	top := 0.0
	for _, b := range hour {
		if v, ok := value(b); ok {
			top = max(top, v)
		}
	}
	if top == 0 {
		return ""
	}
	return gapped(hour, value, func(i int, v float64) string {
		return fmt.Sprintf("%.1f %.1f", float64(i)*120/float64(len(hour)-1), 22.5-v/top*21)
	})
}

// gapped is the path through the buckets' values. A bucket without one leaves a gap,
// because no value is not a value of zero.
func gapped(of []Bucket, value func(Bucket) (float64, bool), point func(i int, v float64) string) string {
	var d strings.Builder
	cmd := "M"
	for i, b := range of {
		v, ok := value(b)
		if !ok {
			cmd = "M"
			continue
		}
		d.WriteString(cmd + point(i, v))
		cmd = "L"
	}
	return d.String()
}

func firstRate(b Bucket) (float64, bool) {
	if b.First == 0 {
		return 0, false
	}
	return float64(b.FirstOK) / float64(b.First), true
}

func finishedOf(b Bucket) (float64, bool) { return float64(b.finished()), true }
