package web_test

import (
	"strings"
	"time"
)

var claimTabStates = map[string]string{"unsettled": "1, 2, 3", "unknown": "3", "done": "4", "released": "5, 6"}

// numbersOfClaims is one tab of the claims.
func numbersOfClaims(tab string) func(*sheet, frozen) {
	return func(s *sheet, q frozen) {
		for i, a := range all(s.main, "#claim-tabs a") {
			name := []string{"unsettled", "unknown", "done", "released"}[i]
			s.says(a, q.n(`select count(*) from tekrar.effect_claims where state in (`+claimTabStates[name]+`)`))
		}
		order := map[string]string{"done": "touched_at desc, key desc", "released": "touched_at desc, key desc"}[tab]
		if order == "" {
			order = "claimed_at, key"
		}
		var claims []struct {
			Key                       string
			State, Reclaims, Receipts int64
			Job, Attempt              *int64
			Claimed                   time.Time
			Effect                    *time.Time
			Life                      *int64
			Lease                     time.Time
			Held                      bool
		}
		q.rows(&claims, `select key, state, reclaims, job_id as job, attempt, claimed_at as claimed, effect_at as effect, key_life_us as life,
  coalesce((select lease_until from tekrar.servers where id = c.server), 'epoch') as lease,
  exists (select from tekrar.running r where r.job_id = c.job_id and r.attempt = c.attempt and r.server = c.server) as held,
  (select count(*) from tekrar.effect_receipts e where e.key = c.key) as receipts
from tekrar.effect_claims c where state in (`+claimTabStates[tab]+`) order by `+order+` limit 50`)
		rows := all(s.main, "table.claims tbody tr")
		if len(rows) != len(claims) {
			s.wrong("%d claims, want %d", len(rows), len(claims))
			return
		}
		for i, row := range rows {
			c, cells := claims[i], all(row, "td")
			if got := s.words(first(row, "th a")); got != c.Key {
				s.wrong("row %d is claim %s, want %s", i, got, c.Key)
				continue
			}
			s.words(first(row, "th")) // key and reason are texts
			if c.Job != nil {
				s.says(cells[1], *c.Job, *c.Attempt)
			}
			ages := []time.Time{c.Claimed}
			if c.State <= 2 && c.Held {
				ages = append(ages, c.Lease)
			}
			s.times(cells[2], ages...)
			if life := c.Life; life != nil && *life > 0 {
				length := time.Duration(*life) * time.Microsecond
				if c.Effect != nil {
					s.times(cells[3], c.Effect.Add(length))
				}
				s.says(cells[3], length)
			}
			s.words(cells[4]) // what the provider answered
			s.says(cells[5], c.Reclaims)
			if c.Receipts == 0 {
				s.says(cells[6], 0)
			}
		}
		if len(claims) > 0 {
			s.says(first(s.main, "table.claims caption"), len(claims))
			s.says(first(s.main, ".pager span"), len(claims))
		}
		for _, p := range all(s.main, ".empty p") {
			if text := s.words(p); !strings.Contains(text, "30 days") {
				s.says(p)
			}
		}
	}
}

// numbersOfCalls: the tiles and warnings of the last day, then the newest calls.
func numbersOfCalls(s *sheet, q frozen) {
	var n struct{ Answered, Delivered, Replayed, P95, Duplicates int64 }
	day := q.now.Add(-24 * time.Hour)
	q.get(&n, `select count(outcome) as answered, count(*) filter (where outcome = 'delivered') as delivered, count(*) filter (where outcome = 'delivered' and replayed) as replayed,
  coalesce((array_agg(duration_us order by duration_us))[ceil(0.95 * count(duration_us))::int], 0) as p95, (select count(*) from tekrar.effect_receipts) as duplicates
from tekrar.provider_calls where at >= $1`, day)
	tile := all(s.main, "#call-tiles li")
	says := func(i int, value, sub []any) {
		s.says(first(tile[i], ".t-v"), value...)
		s.says(first(tile[i], ".t-s"), sub...)
	}
	ofAll := []any{n.Answered, 24 * time.Hour}
	says(0, []any{pct{n.Delivered, n.Answered}}, ofAll)
	says(1, []any{pct{n.Replayed, n.Delivered}}, []any{n.Delivered})
	says(2, []any{time.Duration(n.P95) * time.Microsecond}, ofAll)
	says(3, []any{n.Duplicates}, []any{24 * time.Hour})

	for _, w := range all(s.main, "#call-warnings p") {
		s.callWarning(q, day, w)
	}
	var calls []struct {
		ID, Attempt  int64
		At           time.Time
		Status, Took *int64
		Job          *int64
	}
	q.rows(&calls, `select id, at, status, duration_us as took, job_id as job, coalesce(attempt, 0) as attempt from tekrar.provider_calls order by id desc limit 50`)
	rows := all(s.main, "table.calls tbody tr")
	if len(rows) != len(calls) {
		s.wrong("%d calls, want %d", len(rows), len(calls))
		return
	}
	for i, row := range rows {
		c, cells := calls[i], all(row, "td")
		if idNumber(row) != c.ID {
			s.wrong("row %d is call %d, want %d", i, idNumber(row), c.ID)
			continue
		}
		s.times(cells[0], c.At, c.At)
		s.words(first(row, "th")) // a key is a text
		if c.Status != nil {
			s.says(cells[3], *c.Status)
		}
		if c.Took != nil {
			s.says(cells[4], time.Duration(*c.Took)*time.Microsecond)
		}
		s.words(cells[6]) // a reference too
		if c.Job != nil {
			s.says(cells[7], *c.Job, c.Attempt)
		}
	}
	s.says(first(s.main, "table.calls caption"), len(calls))
	s.says(first(s.main, ".pager span"), len(calls))
}
