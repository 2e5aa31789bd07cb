package bench

import (
	"slices"
	"time"
)

// SoakCommand starts a soak; the script that does the harm calls it.
const SoakCommand = "soak"

// mark is the beginning of a fault; it counts until the next one.
type mark struct {
	Name string
	At   time.Time
}

// gaps gives the longest time in milliseconds in which nothing happened, for each
// kind of fault. A gap belongs to the last fault that began before its end; before
// the first fault it is "none".
func gaps(happened []time.Time, marks []mark, during span) map[string]float64 {
	happened = slices.SortedFunc(slices.Values(happened), time.Time.Compare)
	longest := map[string]float64{}
	last, name, next := during.From, "none", 0
	for _, t := range append(happened, during.To) {
		if t.Before(during.From) || t.After(during.To) {
			continue
		}
		for next < len(marks) && !marks[next].At.After(t) {
			name = marks[next].Name
			next++
		}
		longest[name] = max(longest[name], ms(t.Sub(last)))
		last = t
	}
	return longest
}

// waits gives the longest time in milliseconds from a mark until something happened.
func waits(happened []time.Time, marks []mark, during span) map[string]float64 {
	happened = slices.SortedFunc(slices.Values(happened), time.Time.Compare)
	longest := map[string]float64{}
	for _, m := range marks {
		first := during.To
		if i, _ := slices.BinarySearchFunc(happened, m.At, time.Time.Compare); i < len(happened) {
			first = happened[i]
		}
		longest[m.Name] = max(longest[m.Name], ms(first.Sub(m.At)))
	}
	return longest
}
