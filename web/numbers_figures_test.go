package web_test

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"
)

// figure is a number as a page writes it; of a length of time in seconds.
type figure struct {
	value  float64
	unit   float64 // one of its last digit
	length bool
	least  bool // "10,000+"
}

var figuresOf = regexp.MustCompile(`((?:^|[^\w.])-)?(\d[\d,]*)(\.\d+)?(?:\s?(µs|ms|s|min|h|d)\b)?(\+)?`)

var lengths = map[string]float64{"µs": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400}

// figures reads the numbers of a text; "2 min 5 s" is one.
func figures(text string) (out []figure) {
	end := -2
	for _, m := range figuresOf.FindAllStringSubmatchIndex(text, -1) {
		part := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[m[2*i]:m[2*i+1]]
		}
		whole, decimals := strings.ReplaceAll(part(2), ",", ""), part(3)
		value, _ := strconv.ParseFloat(whole+decimals, 64)
		unit := math.Pow10(-max(0, len(decimals)-1))
		if part(1) != "" {
			value = -value
		}
		size, length := lengths[part(4)]
		if length {
			value, unit = value*size, unit*size
		}
		f := figure{value, unit, length, part(5) != ""}
		if last := len(out) - 1; length && last >= 0 && out[last].length && m[4] == end+1 && out[last].unit > unit {
			out[last].value += value
			out[last].unit = unit
		} else {
			out = append(out, f)
		}
		end = m[1]
	}
	return out
}

// pct is a part of a whole in percent.
type pct struct{ part, whole int64 }

// near is a number that the page may round to either side.
type near float64

// expected is what a page has to show for a value: nothing at all for a share of nothing.
func expected(want any) (out []func(figure) bool) {
	exactly := func(v float64) []func(figure) bool {
		return []func(figure) bool{func(f figure) bool { return !f.length && !f.least && f.value == v }}
	}
	switch w := want.(type) {
	case int:
		return exactly(float64(w))
	case int64:
		return exactly(float64(w))
	case atLeast:
		return []func(figure) bool{func(f figure) bool { return f.least && f.value == float64(w) }}
	case near:
		return []func(figure) bool{func(f figure) bool { return !f.length && math.Abs(f.value-float64(w)) <= f.unit*1.001 }}
	case time.Duration:
		return []func(figure) bool{func(f figure) bool { return f.length && math.Abs(f.value-w.Seconds()) <= f.unit*1.001 }}
	case pct:
		switch tenths := w.tenths(); {
		case w.whole <= 0:
			return nil
		case tenths == 0 && w.part > 0:
			return exactly(0.1) // "< 0.1 %"
		default:
			return exactly(float64(tenths) / 10)
		}
	case rate:
		if w > 0 && w < 10 {
			return expected(near(w))
		}
		return exactly(math.Floor(float64(w) + 0.5))
	case []any:
		for _, one := range w {
			out = append(out, expected(one)...)
		}
		return out
	}
	panic(fmt.Sprintf("no figure for %T", want))
}

// tenths is cut, so that 100 % means all.
func (p pct) tenths() int64 {
	if p.whole <= 0 {
		return 0
	}
	return p.part * 1000 / p.whole
}

// rate is a number a minute.
type rate float64

// says claims the text of n, whose numbers must be those, in that order.
func (s *sheet) says(n *html.Node, want ...any) {
	if n == nil {
		s.wrong("missing: what should say %v", want)
		return
	}
	s.compare(place(n), s.words(n), want)
}

// named is says for an attribute.
func (s *sheet) named(n *html.Node, name string, want ...any) {
	if n == nil {
		s.wrong("missing: what should be named %v", want)
		return
	}
	s.said[key(n, name)] = true
	s.compare(place(n)+" "+name, attr(n, name), want)
}

// contains is for a number within texts that nobody computes.
func (s *sheet) contains(n *html.Node, word string, number int64) {
	if text := s.words(n); !regexp.MustCompile(fmt.Sprintf(`\b%s %d\b`, word, number)).MatchString(text) {
		s.wrong("%s says %q, the database %s %d", place(n), text, word, number)
	}
	s.numbers++
}

func (s *sheet) compare(where, text string, want []any) {
	got, tests := figures(text), expected(want)
	same := len(got) == len(tests)
	for i := 0; same && i < len(got); i++ {
		same = tests[i](got[i])
	}
	if !same {
		s.wrong("%s says %q, the database %v", where, text, want)
	}
	s.numbers += len(got)
}

// times claims the times within n: these, in that order. What a relative one says may
// be two seconds off, since the page is read after its clock.
func (s *sheet) times(n *html.Node, want ...time.Time) {
	if n == nil {
		s.wrong("missing: what should have the times %v", want)
		return
	}
	found := all(n, "time")
	if n.Data == "time" {
		found = []*html.Node{n}
	}
	if len(found) != len(want) {
		s.wrong("%s has %d times, the database %v", place(n), len(found), want)
		return
	}
	for i, el := range found {
		s.claimed[el] = true
		s.numbers++
		at, err := time.Parse(time.RFC3339Nano, attr(el, "datetime"))
		text := el.FirstChild.Data
		if err != nil || !at.Equal(want[i]) {
			s.wrong("%s is the time %s, in the database %s", place(el), attr(el, "datetime"), want[i].UTC().Format(time.RFC3339Nano))
		}
		if !strings.Contains(attr(el, "title"), at.UTC().Format("15:04:05.000")) {
			s.wrong("%s: title %q of %s", place(el), attr(el, "title"), at)
		}
		if attr(el, "data-rel") == "" {
			if text != at.UTC().Format("15:04:05.000") && text != at.UTC().Format("15:04") && text != at.UTC().Format("2 Jan 15:04") {
				s.wrong("%s says %q of %s", place(el), text, at)
			}
			continue
		}
		s.relative(el, text, s.now.Sub(at))
	}
}

// relative checks "12 s ago", "in 5 min", "now" or a bare age.
func (s *sheet) relative(el *html.Node, text string, age time.Duration) {
	got := 0.0
	if f := figures(text); len(f) == 1 && f[0].length {
		got = f[0].value
		if strings.HasPrefix(text, "in ") {
			got = -got
		}
		if diff := math.Abs(age.Seconds() - got); diff > f[0].unit+2 {
			s.wrong("%s says %q of a time %s before now", place(el), text, age)
		}
		return
	}
	if text != "now" || math.Abs(age.Seconds()) > 3 {
		s.wrong("%s says %q of a time %s before now", place(el), text, age)
	}
}
