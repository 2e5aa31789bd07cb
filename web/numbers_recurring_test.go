package web_test

import (
	"strings"
	"time"

	"golang.org/x/net/html"
)

// fired is one fire of a recurring job, with where its job stands now.
type fired struct {
	At      time.Time `db:"fire_at"`
	Outcome int64
	Job     *int64
	State   string
	Attempt int64
	Retry   int64
	Max     int64
}

func (q frozen) fires(id string) (fires []fired) {
	stand := ""
	for state, text := range lists {
		if stand != "" {
			stand += " union all "
		}
		stand += `select job_id, kind, attempt, retry, '` + state + `' as state from (` + text + `) l`
	}
	q.rows(&fires, `select f.fire_at, f.outcome, f.job_id as job, coalesce(s.state, '') as state, coalesce(s.attempt, 0) as attempt, coalesce(s.retry, 0) as retry,
  coalesce((select max_retries from tekrar.kinds k where k.kind = s.kind), 0) as max
from tekrar.recurring_fires f left join (`+stand+`) s on s.job_id = f.job_id where f.recurring_id = $1 order by f.fire_at desc limit 20`, id)
	return fires
}

// words are the numbers that a fire's words have.
func (f fired) numbers() []any {
	switch {
	case f.Outcome != 1:
		return nil
	case (f.State == "succeeded" || f.State == "failed") && f.Attempt > 1:
		return []any{f.Attempt}
	case (f.State == "processing" || f.State == "scheduled" || f.State == "enqueued") && f.Retry > 0:
		return []any{f.Retry, max(f.Retry, f.Max)}
	}
	return nil
}

// numbersOfRecurring is the list.
func numbersOfRecurring(s *sheet, q frozen) {
	var all20 []struct {
		ID           string
		Next, Paused *time.Time
	}
	q.rows(&all20, `select id, next_run as next, paused_at as paused from tekrar.recurring where removed_at is null order by id`)
	rows := all(s.main, "table.rec tbody tr")
	if len(rows) != len(all20) {
		s.wrong("%d recurring jobs, want %d", len(rows), len(all20))
		return
	}
	s.says(first(s.main, "caption"), len(rows))
	for i, row := range rows {
		r := all20[i]
		if got := s.words(first(row, ".r-id a")); got != r.ID {
			s.wrong("row %d is %s, want %s", i, got, r.ID)
			continue
		}
		s.words(first(row, ".r-spec")) // a schedule in words
		if r.Paused == nil && r.Next != nil {
			s.nextFire(first(row, ".r-next"), *r.Next)
		} else {
			s.times(first(row, ".r-st"), *r.Paused)
		}
		fires := q.fires(r.ID)
		marks := all(row, ".marks li")
		if len(marks) != len(fires) {
			s.wrong("%s has %d marks, want %d", r.ID, len(marks), len(fires))
			continue
		}
		for n, mark := range marks {
			f := fires[len(fires)-1-n]
			s.clocked(mark, append([]any{clockOf(f.At)}, f.numbers()...))
			s.titled(mark, f)
		}
		if len(fires) > 0 {
			sub := first(row, ".r-marks .sub")
			s.says(sub, fires[0].numbers()...)
			s.times(sub, fires[0].At)
		}
	}
}

// nextFire is a time seen from now, and whole.
func (s *sheet) nextFire(n *html.Node, at time.Time) {
	s.times(n, at)
	s.clocked(n, []any{at.UTC().Format("2006-01-02 15:04:05.999999")})
}

// titled: a mark's title has the whole time, and then the words.
func (s *sheet) titled(mark *html.Node, f fired) {
	for n := range mark.Descendants() {
		title := attr(n, "title")
		if title == "" {
			continue
		}
		s.said[key(n, "title")] = true
		if !strings.Contains(title, f.At.UTC().Format("2006-01-02 15:04:05")) {
			s.wrong("%s: title %q of a fire at %s", place(n), title, f.At)
		}
		s.numbers++
	}
}

// numbersOfOneRecurring is the page of one: its fires as a table, its rules.
func numbersOfOneRecurring(id string) func(*sheet, frozen) {
	return func(s *sheet, q frozen) {
		var r struct {
			Next             *time.Time
			Created, Updated time.Time
		}
		q.get(&r, `select next_run as next, created_at as created, updated_at as updated from tekrar.recurring where id = $1`, id)
		s.words(first(s.main, "#recurring-header .lead"))
		s.excuse(".warnline", "a warning, as it was written down")
		if r.Next != nil {
			s.nextFire(all(s.main, "#recurring-header .facts div")[1], *r.Next)
		}
		fires, rows := q.fires(id), all(s.main, "table.fires tbody tr")
		if len(rows) != len(fires) {
			s.wrong("%d fires, want %d", len(rows), len(fires))
			return
		}
		for i, row := range rows {
			f, cells := fires[i], all(row, "td")
			s.nextFire(first(row, "th"), f.At)
			s.says(cells[0], f.numbers()...)
			if f.Job != nil {
				s.says(cells[1], *f.Job)
			}
			s.words(cells[2])
		}
		s.times(first(s.main, "#recurring-facts .dl"), r.Updated, r.Created)
		s.excuse("#recurring-facts", "its schedule and rules, as they were written")
		s.excuse("#edit", "the form: what is in it is the rules again")
	}
}
