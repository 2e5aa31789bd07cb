package web_test

import (
	"time"
)

// attempted is one attempt, put together from its rows of history.
type attempted struct {
	n            int64
	began, ended time.Time
	waited, ran  *int64
	failure      string
	running      bool
}

func attemptsOf(rows []changed) (out []attempted) {
	for i := len(rows) - 1; i >= 0; i-- {
		r := rows[i]
		if r.State == 3 {
			out = append(out, attempted{n: r.Attempt, began: r.At, waited: r.Latency, running: true})
		} else if n := len(out) - 1; n >= 0 && out[n].running && out[n].n == r.Attempt {
			out[n].running, out[n].ended, out[n].ran, out[n].failure = false, r.At, r.Duration, r.Failure
		}
	}
	return out
}

// jobAttempts is the table of attempts, newest first.
func (s *sheet) jobAttempts(rows []changed) {
	want := attemptsOf(rows)
	lines := all(s.main, "#job-attempts tbody tr")
	if len(lines) != len(want) {
		s.wrong("%d attempts, want %d", len(lines), len(want))
		return
	}
	for i, line := range lines {
		a, cells := want[len(want)-1-i], all(line, "td")
		s.says(first(line, "th"), a.n)
		s.times(cells[0], a.began)
		if a.waited != nil {
			s.says(cells[1], time.Duration(*a.waited)*time.Microsecond)
		}
		switch {
		case a.running:
		case a.ran != nil:
			s.says(cells[2], time.Duration(*a.ran)*time.Microsecond)
		default:
			s.says(cells[2], a.ended.Sub(a.began))
		}
		for _, sub := range all(cells[3], ".quiet") {
			same := int64(0)
			for _, older := range want[:len(want)-1-i] {
				if older.failure == a.failure && same == 0 {
					same = older.n
				}
			}
			s.says(sub, same)
		}
		s.words(cells[4]) // a server's name
	}
}

// jobError is the newest error in full.
func (s *sheet) jobError(rows []changed) {
	panel := first(s.main, "#job-error")
	for _, r := range rows {
		if r.State == 5 && r.Failure != "" {
			s.says(first(panel, ".panel-h .quiet"), r.Attempt)
			s.times(panel, r.At)
			break
		}
	}
	if rule := first(panel, ".rule"); rule != nil {
		s.words(rule)
	}
}

// jobEffects are the claims and the calls of the job.
func (s *sheet) jobEffects(q frozen, id int64) {
	var claims []struct {
		Attempt int64
		Claimed time.Time
		Effect  *time.Time
		Life    *int64
	}
	q.rows(&claims, `select attempt, claimed_at as claimed, effect_at as effect, key_life_us as life from tekrar.effect_claims where job_id = $1 order by key`, id)
	if len(claims) > 0 {
		s.says(first(s.main, "#job-tabs b"), len(claims))
	}
	shown := all(s.main, "#job-claims li")
	if len(shown) != len(claims) {
		s.wrong("%d claims, want %d", len(shown), len(claims))
		return
	}
	s.excuse("#job-claims .pair", "the key in the names of its buttons")
	for i, li := range shown {
		c := claims[i]
		s.words(first(li, "a")) // the key
		s.says(first(li, ".facts .quiet"), c.Attempt)
		times := []time.Time{c.Claimed}
		if c.Life != nil && c.Effect != nil {
			times = append(times, c.Effect.Add(time.Duration(*c.Life)*time.Microsecond))
		}
		s.times(li, times...)
		for _, line := range all(li, "p") {
			if attr(line, "lang") == "en" {
				s.words(line)
			} else if first(line, "time") != nil && c.Life != nil {
				s.says(line, time.Duration(*c.Life)*time.Microsecond)
			}
		}
	}
	var calls []struct {
		At           time.Time
		Status, Took *int64
		Attempt      int64
		Key          string
		Reference    string
	}
	q.rows(&calls, `select at, status, duration_us as took, attempt, key, reference from tekrar.provider_calls where job_id = $1 order by id desc`, id)
	lines := all(s.main, "#job-calls li")
	if len(lines) != len(calls) {
		s.wrong("%d calls, want %d", len(lines), len(calls))
		return
	}
	for i, li := range lines {
		c := calls[i]
		s.words(first(li, "a"))
		var want []any
		if c.Status != nil {
			want = append(want, *c.Status)
		}
		if c.Took != nil {
			want = append(want, time.Duration(*c.Took)*time.Microsecond)
		}
		for _, f := range figures(c.Reference) {
			want = append(want, near(f.value))
		}
		s.says(first(li, ".facts .quiet"), want...)
		s.says(all(li, "p")[1], c.Attempt)
		s.times(li, c.At, c.At)
	}
}

// jobFacts are the facts beside the history.
func (s *sheet) jobFacts(state string, retry, most, losses, priority int64, timeout *int64, created time.Time) {
	panels := all(s.main, "section.panel")
	dl := first(panels[len(panels)-1], ".dl")
	s.times(dl, created, created)
	dd := all(dl, "dd")[1:]
	if state != "succeeded" && state != "deleted" {
		s.says(dd[0], retry, most)
		s.says(dd[1], losses)
		dd = dd[2:]
	}
	s.says(dd[0], priority)
	if timeout != nil {
		s.says(dd[1], time.Duration(*timeout)*time.Millisecond)
	}
}
