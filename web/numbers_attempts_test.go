package web_test

import (
	"strings"
	"time"
)

// numbersOfAttempts: the chart with its table, then what retries cost.
func numbersOfAttempts(span, width time.Duration, kind, queue string) func(*sheet, frozen) {
	return func(s *sheet, q frozen) {
		s.excuse(".switches", "the ranges to choose from")
		s.chart(q, span, width, kind, queue)
		root := first(s.main, "#attempts-work")
		s.says(first(root, "h2"), span)

		var kinds []struct {
			Kind                                                           string
			Starts, StartsOK, Attempts, Run, RetryRun, Late, LateExhausted int64
		}
		q.rows(&kinds, `select kind, coalesce(sum(n) filter (where attempt = 1), 0) as starts, coalesce(sum(n) filter (where attempt = 1 and outcome = 1), 0) as startsok,
  sum(n) as attempts, sum(run_us) as run, coalesce(sum(run_us) filter (where attempt > 1), 0) as retryrun,
  coalesce(sum(n) filter (where attempt > 2 and outcome in (1, 3, 4, 5)), 0) as late, coalesce(sum(n) filter (where attempt > 2 and outcome in (3, 5)), 0) as lateexhausted
from tekrar.stats where minute >= $1 and outcome <= 5 and ($2 = '' or kind = $2) and ($3 = '' or queue = $3) group by kind order by sum(n) desc, kind`,
			q.since(span, width), kind, queue)
		rows := all(root, "tbody tr")
		if len(rows) != len(kinds) {
			s.wrong("%d kinds, want %d", len(rows), len(kinds))
			return
		}
		var attempts, starts, run, retryRun int64
		for i, row := range rows {
			k, cells := kinds[i], all(row, "td")
			attempts, starts, run, retryRun = attempts+k.Attempts, starts+k.Starts, run+k.Run, retryRun+k.RetryRun
			if got := s.words(first(row, "th")); got != k.Kind {
				s.wrong("row %d is kind %s, want %s", i, got, k.Kind)
			}
			s.says(cells[0], k.Starts)
			s.says(cells[1], pct{k.StartsOK, k.Starts})
			s.says(cells[2], ratio(k.Attempts, k.Starts)...)
			s.says(cells[3], pct{k.RetryRun, k.Run})
			if k.Late > 0 {
				s.says(cells[4], pct{k.LateExhausted, k.Late}, k.LateExhausted, k.Late)
			}
		}
		facts := all(root, ".dl dd")
		if attempts > 0 {
			us := func(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
			want := append([]any{attempts, starts}, ratio(attempts, starts)...)
			s.says(facts[0], append(want, pct{retryRun, run}, us(retryRun), us(run))...)
		}
		if !strings.Contains(s.words(facts[1]), "No job succeeded.") {
			numbers, since := q.delays(span, kind, queue)
			s.clocked(facts[1], append(numbers, since.UTC().Format("2006-01-02 15:04:05.000")))
		}
	}
}

func ratio(a, b int64) []any {
	if b == 0 {
		return nil
	}
	return []any{near(float64(a) / float64(b))}
}

// delays are how much later than their first failure retried jobs succeeded, of the
// newest two thousand that did.
func (q frozen) delays(span time.Duration, kind, queue string) (numbers []any, since time.Time) {
	var d struct {
		Looked, Late int64
		Median, P95  float64
		Since        time.Time
	}
	q.get(&d, `with l as (select * from `+last+` l where state = 4 and ($2 = '' or kind = $2) and ($3 = '' or queue = $3) order by id desc limit 2000),
late as (select l.at, (select extract(epoch from l.at - h.at) from tekrar.history h where h.job_id = l.job_id and h.state = 5 and l.attempt > 1 order by h.id limit 1)::float8 as late
  from l where l.at >= $1)
select count(*) as looked, count(late) as late, coalesce(percentile_cont(0.5) within group (order by late), 0) as median,
  coalesce(percentile_cont(0.95) within group (order by late), 0) as p95, min(at) as since from late`, q.now.Add(-span), kind, queue)
	if d.Late > 0 {
		numbers = append(numbers, d.Late, seconds(d.Median), seconds(d.P95), 95)
	}
	return append(numbers, d.Looked), d.Since
}

func seconds(f float64) time.Duration { return time.Duration(f * float64(time.Second)) }
