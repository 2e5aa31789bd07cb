package web_test

import (
	"time"

	"golang.org/x/net/html"
)

type atLeast int64

// failedGroup counts the failed jobs of one group, one by one.
type failedGroup struct {
	Kind                    string
	Fingerprint             int64
	N, Exhausted, Permanent int64
	A1, A2, A3, A4          int64
	Day, Hour               int64
	Oldest, Newest          time.Time
	MutedAt                 *time.Time `db:"muted_at"`
}

func (q frozen) groups(muted bool) (all []failedGroup) {
	day := q.now.Truncate(10 * time.Minute).Add(-23*time.Hour - 50*time.Minute)
	q.rows(&all, `select f.kind, f.fingerprint, count(*) as n, count(*) filter (where outcome in (3, 5)) as exhausted, count(*) filter (where outcome = 4) as permanent,
  count(*) filter (where attempt - snoozes <= 1) as a1, count(*) filter (where attempt - snoozes = 2) as a2, count(*) filter (where attempt - snoozes = 3) as a3,
  count(*) filter (where attempt - snoozes > 3) as a4, count(*) filter (where failed_at >= $2) as day, count(*) filter (where failed_at >= $3) as hour,
  min(failed_at) as oldest, max(failed_at) as newest, max(m.muted_at) as muted_at
from tekrar.failed f left join tekrar.failure_mutes m using (kind, fingerprint) where (m.kind is not null) = $1
group by f.kind, f.fingerprint order by count(*) desc, f.kind, f.fingerprint`, muted, day, day.Add(23*time.Hour))
	return all
}

// numbersOfFailures: all groups, those that wait and the muted ones.
func numbersOfFailures(s *sheet, q frozen) {
	groups := q.groups(false)
	jobs := int64(0)
	for _, g := range groups {
		jobs += g.N
	}
	if len(groups) > 0 {
		s.says(first(s.main, "#failure-lead"), jobs, len(groups))
	}
	s.failures(q, first(s.main, "#failure-groups"), false, 50)
	if muted := first(s.main, "#failure-muted"); muted != nil {
		s.failures(q, muted, true, 50)
	}
}

// failures checks a table of groups.
func (s *sheet) failures(q frozen, root *html.Node, muted bool, most int) {
	groups := q.groups(muted)
	rows := all(root, "tbody tr")
	if len(rows) != min(len(groups), most) {
		s.wrong("%s has %d groups, want %d of %d", place(root), len(rows), most, len(groups))
		return
	}
	for i, row := range rows {
		g := groups[i]
		s.words(first(row, ".f-err a")) // an error's own text
		sub := all(row, ".f-err .sub")
		s.says(sub[0], g.nature()...)
		if g.MutedAt != nil {
			s.says(sub[1])
			s.times(sub[1], *g.MutedAt)
		}
		s.says(first(row, ".f-n"), g.N)
		s.named(first(row, ".f-spark svg"), "aria-label", g.Day, 24*time.Hour, g.Hour)
		s.times(first(row, ".f-when"), g.Newest, g.Oldest)
		var shares []any
		for n, v := range []int64{g.A1, g.A2, g.A3, g.A4} {
			if at := any(n + 1); v > 0 {
				if n == 3 {
					at = atLeast(4)
				}
				shares = append(shares, at, pct{v, g.N})
			}
		}
		s.says(first(row, ".f-att"), shares...)
		for _, b := range all(row, "button") {
			if do := attr(b, "value"); do == "requeue" || do == "delete" {
				s.says(b, g.N)
			}
		}
	}
}

// nature are the numbers of a group whose jobs did not all end alike.
func (g failedGroup) nature() (numbers []any) {
	if g.Permanent == g.N || g.Exhausted == g.N || g.Permanent+g.Exhausted == 0 {
		return nil
	}
	for _, n := range []int64{g.Permanent, g.Exhausted, g.N - g.Permanent - g.Exhausted} {
		if n > 0 {
			numbers = append(numbers, n)
		}
	}
	return numbers
}
