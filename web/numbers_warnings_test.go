package web_test

import (
	"strings"
	"time"

	"golang.org/x/net/html"
)

// callWarning counts what a warning says of its first key.
func (s *sheet) callWarning(q frozen, day time.Time, w *html.Node) {
	links := all(w, "a")
	if len(links) == 0 {
		s.wrong("%s: a warning without a key", place(w))
		return
	}
	key := s.words(links[0])
	text := s.words(w)
	var n int64
	switch {
	case strings.Contains(text, "different contents"):
		n = q.n(`select count(distinct payload) from tekrar.provider_calls where key = $1 and at >= $2`, key, day)
	case strings.Contains(text, "One content"):
		// The content is the one that all of these keys have in common.
		var keys []string
		for _, a := range links {
			keys = append(keys, s.words(a))
		}
		n = q.n(`select count(distinct key) from tekrar.provider_calls where at >= $2 and payload in
  (select payload from tekrar.provider_calls where key = any(string_to_array($1, ' ')) and at >= $2 group by payload having count(distinct key) = $3)`, strings.Join(keys, " "), day, len(keys))
	default:
		n = q.n(`select count(distinct reference) from tekrar.provider_calls where key = $1 and at >= $2 and outcome = 'delivered' and not replayed`, key, day)
	}
	if before, _, found := strings.Cut(text, ":"); found {
		got := figures(before)
		if len(got) != 1 || got[0].value != float64(n) {
			s.wrong("%q, the database has %d for %s", text, n, key)
		}
		s.numbers++
	}
}

// numbersOfAudit: what people did, newest first.
func numbersOfAudit(s *sheet, q frozen) {
	var acts []struct {
		At         time.Time
		Job, About *int64
		Bulk, Done *int64
		Group      string
	}
	q.rows(&acts, `select a.at, a.job_id as job, (a.detail ->> 'n')::bigint as about, o.id as bulk, o.done, coalesce(a.detail ->> 'group', '') as group
from tekrar.audit a left join tekrar.bulk_operations o on o.id::text = a.detail ->> 'bulk' order by a.id desc limit 50`)
	rows := all(s.main, "table.audit tbody tr")
	if len(rows) != len(acts) {
		s.wrong("%d actions, want %d", len(rows), len(acts))
		return
	}
	for i, row := range rows {
		a, cells := acts[i], all(row, "td")
		s.times(cells[0], a.At)
		on := cells[2]
		for _, sub := range all(on, ".clamp") {
			s.words(sub) // what else was written down
		}
		switch {
		case a.Job != nil:
			s.says(first(on, "a"), *a.Job)
		case a.Group != "":
			if text := s.words(first(on, "a")); !strings.HasSuffix(text, " failure group "+a.Group) {
				s.wrong("%s says %q, the database group %s", place(on), text, a.Group)
			}
		}
		if a.Bulk != nil {
			s.says(first(on, ".sub a"), *a.Bulk)
		}
		count := []any{}
		switch {
		case a.Done != nil && a.About != nil && *a.Done != *a.About:
			count = append(count, *a.Done, *a.About)
		case a.Done != nil:
			count = append(count, *a.Done)
		case a.About != nil:
			count = append(count, *a.About)
		case a.Job != nil:
			count = append(count, 1)
		}
		s.says(cells[3], count...)
	}
	s.says(first(s.main, "table.audit caption"), len(acts))
	s.says(first(s.main, ".pager span"), len(acts))
}

// numbersOfDemo: the page has no number but those of its fields and titles.
func numbersOfDemo(s *sheet, _ frozen) {
	for _, in := range all(s.main, "input") {
		s.said[key(in, "title")] = true // the limits of a field
	}
}
