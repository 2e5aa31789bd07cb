package web_test

import (
	"math"
	"strings"
	"time"

	"golang.org/x/net/html"
)

// bar is one bucket of the attempts chart, by plain sums of the statistics.
type bar struct {
	At                                                     time.Time
	A1, A2, A3, A4, Exhausted, Permanent, Starts, StartsOK int64
}

func (b bar) series() []int64 {
	return []int64{b.A1, b.A2, b.A3, b.A4, b.Exhausted, b.Permanent}
}

func (b bar) succeeded() int64 { return b.A1 + b.A2 + b.A3 + b.A4 }
func (b bar) finished() int64  { return b.succeeded() + b.Exhausted + b.Permanent }

const barSums = `coalesce(sum(n) filter (where outcome = 1 and attempt = 1), 0) as a1, coalesce(sum(n) filter (where outcome = 1 and attempt = 2), 0) as a2,
  coalesce(sum(n) filter (where outcome = 1 and attempt = 3), 0) as a3, coalesce(sum(n) filter (where outcome = 1 and attempt > 3), 0) as a4,
  coalesce(sum(n) filter (where outcome in (3, 5)), 0) as exhausted, coalesce(sum(n) filter (where outcome = 4), 0) as permanent,
  coalesce(sum(n) filter (where attempt = 1 and outcome in (1, 2, 3, 4, 5)), 0) as starts, coalesce(sum(n) filter (where attempt = 1 and outcome = 1), 0) as startsok`

// since is the begin of the oldest bucket: buckets stand on the clock, and the last one
// is the one that runs.
func (q frozen) since(span, width time.Duration) time.Time {
	epoch := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	last := epoch.Add(q.now.Sub(epoch).Truncate(width))
	return last.Add(width - span)
}

func (q frozen) bars(span, width time.Duration, kind, queue string) (all []bar) {
	q.rows(&all, `select date_bin($1::interval, minute, timestamptz '2000-01-01 00:00:00Z') as at, `+barSums+`
from tekrar.stats where minute >= $2 and ($3 = '' or kind = $3) and ($4 = '' or queue = $4) group by 1 order by 1 desc`, width.String(), q.since(span, width), kind, queue)
	return all
}

// minutes adds up whole minutes: those that begin from one time on, until before another.
func (q frozen) minutes(from, to time.Time) (sum bar) {
	q.get(&sum, `select $1::timestamptz as at, `+barSums+` from tekrar.stats where minute >= $1 and minute < $2`, from, to)
	return sum
}

func totalOf(bars []bar) (t bar) {
	for _, b := range bars {
		t.A1, t.A2, t.A3, t.A4 = t.A1+b.A1, t.A2+b.A2, t.A3+b.A3, t.A4+b.A4
		t.Exhausted, t.Permanent, t.Starts, t.StartsOK = t.Exhausted+b.Exhausted, t.Permanent+b.Permanent, t.Starts+b.Starts, t.StartsOK+b.StartsOK
	}
	return t
}

// chart checks an attempts chart: its sentence, its rate, what each bar says of itself,
// and the table.
func (s *sheet) chart(q frozen, span, width time.Duration, kind, queue string) {
	root := first(s.main, "#attempts-chart")
	bars := q.bars(span, width, kind, queue)
	t := totalOf(bars)
	want := []any{span}
	if t.finished() > 0 {
		want = append(want, t.succeeded())
		for _, n := range t.series()[:4] {
			if n > 0 {
				want = append(want, pct{n, t.succeeded()})
			}
		}
		if want = append(want, t.Exhausted+t.Permanent); t.Exhausted+t.Permanent > 0 {
			want = append(want, t.Exhausted, t.Permanent)
		}
	}
	s.says(first(root, "figcaption"), want...)
	line := first(root, ".rate-l")
	want = append([]any{pct{t.StartsOK, t.Starts}, t.StartsOK, t.Starts, 95}, band(t)...)
	if strings.Contains(s.words(line), "not known yet") {
		want = append(want, 3, 50)
	} else {
		want = append(want, near(50), 7) // the days before are made so
	}
	s.says(line, want...)
	s.barTitles(root, bars, width)
	s.excuse("#attempts-chart .ylab", "the round numbers of an axis")
	s.excuse("#attempts-chart .xlab", "the times of an axis")
	s.chartRows(first(root, "#chart-table"), bars, width)
}

// barTitles are in the order of time, bottom of the stack first.
func (s *sheet) barTitles(root *html.Node, bars []bar, width time.Duration) {
	var want [][]any
	for i := len(bars) - 1; i >= 0; i-- {
		b := bars[i]
		for n, v := range b.series() {
			if v > 0 {
				name := [][]any{{1}, {2}, {3}, {4}, {}, {}}[n]
				want = append(want, []any{clockOf(b.At), clockOf(b.At.Add(width)), v, name, b.finished()})
			}
		}
	}
	titles := all(root, ".hit title")
	if len(titles) != len(want) {
		s.wrong("the chart has %d bars with a title, want %d", len(titles), len(want))
		return
	}
	for i, title := range titles {
		s.clocked(title, want[i])
	}
}

// clockOf is a time of day where a text has one.
func clockOf(at time.Time) string { return at.UTC().Format("15:04") }

// clocked is says for a text with times of day, which are given as texts.
func (s *sheet) clocked(n *html.Node, want []any) {
	text := s.words(n)
	var numbers []any
	for _, w := range want {
		at, ok := w.(string)
		if !ok {
			numbers = append(numbers, w)
		} else if before, after, found := strings.Cut(text, at); found {
			text = before + after
		} else {
			s.wrong("%s says %q, without the time %s", place(n), text, at)
		}
	}
	for _, day := range []string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"} {
		if i := strings.Index(text, " "+day); i >= 0 && i <= 2 {
			text = text[i:]
		}
	}
	s.compare(place(n), text, numbers)
}

func (s *sheet) chartRows(table *html.Node, bars []bar, width time.Duration) {
	if table == nil {
		return
	}
	s.says(first(table, "summary"), width)
	rows := all(table, "tbody tr")
	var shown []bar
	for _, b := range bars {
		if b.finished() > 0 || b.Starts > 0 {
			shown = append(shown, b)
		}
	}
	if len(rows) != len(shown) {
		s.wrong("the chart's table has %d rows, want %d", len(rows), len(shown))
		return
	}
	for i, row := range rows {
		b, cells := shown[i], all(row, "td")
		s.times(row, b.At)
		for n, v := range b.series() {
			s.says(cells[n], v)
		}
		s.says(cells[6], b.Starts)
		s.says(cells[7], pct{b.StartsOK, b.Starts})
		s.says(cells[8], band(b)...)
		if text := s.words(cells[9]); text != "–" {
			s.says(cells[9], near(50))
		}
	}
}

// band is the 95 % Wilson interval of a rate in percent; nothing when it says nothing.
func band(b bar) []any {
	if b.Starts == 0 {
		return nil
	}
	const z = 1.959964
	n, p := float64(b.Starts), float64(b.StartsOK)/float64(b.Starts)
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return []any{near(100 * math.Max(0, middle-half)), near(100 * math.Min(1, middle+half))}
}
