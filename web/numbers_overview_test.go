package web_test

import (
	"strings"
	"time"
)

// numbersOfOverview: the verdict, the tiles, the chart, the queues, the failures.
func numbersOfOverview(s *sheet, q frozen) {
	minute := q.now.Truncate(time.Minute)
	hour := q.minutes(minute.Add(-59*time.Minute), minute.Add(time.Minute))
	five := q.minutes(minute.Add(-5*time.Minute), minute)
	yesterday := minute.Add(-24 * time.Hour)
	then := q.minutes(yesterday.Add(-59*time.Minute), yesterday.Add(time.Minute))
	perMinute := rate(float64(five.finished()) / 5)
	muted := q.n(`select count(*) from tekrar.failed f join tekrar.failure_mutes m using (kind, fingerprint)`)
	failed := q.n(`select count(*) from tekrar.failed`)
	ready := q.n(`select count(*) from tekrar.ready`)

	for _, a := range all(s.main, "#verdict a") {
		switch text := s.words(a); {
		case strings.Contains(text, "for a decision"):
			s.says(a, failed-muted)
		case strings.Contains(text, "of first attempts succeeded in the last hour"):
			s.says(a, pct{hour.StartsOK, hour.Starts})
		case strings.HasPrefix(text, "All is well:"):
			s.says(a, perMinute, pct{hour.StartsOK, hour.Starts})
		case strings.Contains(text, "lost in the last hour"):
			s.says(a, q.n(`select count(*) from tekrar.servers where lost_at > $1`, q.now.Add(-time.Hour)))
		default:
			s.says(a) // names only
		}
	}

	tile := all(s.main, "#tiles li")
	if len(tile) != 6 {
		s.wrong("%d tiles, want 6", len(tile))
		return
	}
	part := func(i int, css string, want ...any) { s.says(first(tile[i], css), want...) }
	under := func(i, line int, want ...any) { s.says(all(tile[i], ".t-s")[line], want...) }
	part(0, ".t-v", pct{hour.StartsOK, hour.Starts})
	under(0, 0, hour.StartsOK, hour.Starts, time.Hour)
	under(0, 1, pct{then.StartsOK, then.Starts})
	part(1, ".t-v", perMinute)
	under(1, 0, 5*time.Minute)
	under(1, 1, rate(float64(hour.finished())/60), rate(float64(then.finished())/60))
	part(2, ".t-v", ready)
	s.times(tile[2], q.maybe(`select min(ready_at) from tekrar.ready`)...)
	part(3, ".t-v", q.n(`select count(*) from tekrar.scheduled where cause = 2`))
	s.times(tile[3], q.maybe(`select min(run_at) from tekrar.scheduled where cause = 2`)...)
	part(4, ".t-v", failed)
	part(5, ".t-v", q.n(`select count(*) from tekrar.effect_claims where state in (1, 2, 3)`))

	s.chart(q, 6*time.Hour, 5*time.Minute, "", "")
	s.queues(q, true)
	s.failures(q, first(s.main, "#failure-top"), false, 5)
}

// maybe is one time or none.
func (q frozen) maybe(text string, args ...any) []time.Time {
	var at *time.Time
	if q.get(&at, text, args...); at == nil {
		return nil
	}
	return []time.Time{*at}
}
