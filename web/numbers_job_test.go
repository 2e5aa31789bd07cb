package web_test

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"
)

// jobPages choose one job each, the one with the most history where there are several.
var jobPages = map[string]string{
	"failed":     `select f.job_id from tekrar.failed f join tekrar.history h using (job_id) where f.kind = 'shaky' group by 1 order by count(*) desc, 1 limit 1`,
	"mailed":     `select job_id from tekrar.effect_claims where job_id is not null order by claimed_at desc, key limit 1`,
	"succeeded":  `select job_id from tekrar.history where state = 4 and kind = 'shaky' order by attempt desc, job_id limit 1`,
	"scheduled":  `select job_id from tekrar.scheduled where cause = 1 order by job_id limit 1`,
	"deleted":    `select job_id from ` + last + ` l where state = 6 order by id desc limit 1`,
	"parent":     `select parent_id from tekrar.jobs where parent_id is not null order by id desc limit 1`,
	"continuing": `select id from tekrar.jobs where parent_id is not null order by id limit 1`,
}

func pageOfJob(text string) func(frozen) string {
	return func(q frozen) string { return "/jobs/" + strconv.FormatInt(q.n(text), 10) }
}

// changed is a row of a job's history.
type changed struct {
	ID, State, Attempt int64
	At                 time.Time
	Latency, Duration  *int64
	Worker             *int64
	Due, Cancel        *time.Time
	Failure            string
}

func numbersOfJob(s *sheet, q frozen) {
	id, _ := strconv.ParseInt(strings.TrimPrefix(s.path, "/jobs/"), 10, 64)
	var j struct {
		listed
		State           string
		Losses          int64
		Priority        int64
		Timeout, Parent *int64
		Created         time.Time
	}
	for state, text := range lists {
		if q.n(`select count(*) from (`+text+`) l where job_id = $1`, id) == 1 {
			j.State = state
		}
	}
	q.get(&j.listed, `select l.job_id, l.kind, l.queue, l.attempt, l.retry, coalesce(k.max_retries, -1) as max, l.at from (`+lists[j.State]+`) l left join tekrar.kinds k on k.kind = l.kind where job_id = $1`, id)
	q.get(&j.Created, `select created_at from tekrar.jobs where id = $1`, id)
	q.get(&j.Priority, `select priority from tekrar.jobs where id = $1`, id)
	q.get(&j.Parent, `select parent_id from tekrar.jobs where id = $1`, id)
	q.get(&j.Timeout, `select max(coalesce(j.timeout_ms, k.timeout_ms)) from tekrar.jobs j left join tekrar.kinds k on k.kind = j.kind where id = $1`, id)
	j.Losses = q.n(`select coalesce(max(losses), 0) from (select job_id, losses from tekrar.ready union all select job_id, losses from tekrar.scheduled
union all select job_id, losses from tekrar.failed union all select job_id, losses from tekrar.running) l where job_id = $1`, id)
	var rows []changed
	q.rows(&rows, `select id, state, attempt, at, latency_us as latency, duration_us as duration, worker, (data ->> 'run_at')::timestamptz as due, (data -> 'cancel_requested' ->> 'at')::timestamptz as cancel,
  coalesce(nullif(coalesce(data ->> 'error_type', '') || coalesce(data ->> 'error', ''), ''), '') as failure from tekrar.history where job_id = $1 order by id desc`, id)

	head := first(s.main, "#job-header")
	s.says(first(head, "h1"), id)
	s.says(first(head, ".facts b"), j.attempts(j.State)...)
	if j.State == "scheduled" {
		s.times(first(head, ".facts"), j.At, j.At)
	} else {
		s.times(first(head, ".facts"), j.At)
	}
	if once := first(s.main, "#btn-once"); once != nil {
		s.says(once, j.once(j.State)...)
	}
	if j.State == "failed" {
		s.says(first(s.main, "#btn-fresh"), j.Attempt+1, j.Attempt+1+j.Max)
	}
	s.planned(j.attempts(j.State))
	s.excuse(".facts", "the name of a server")
	s.timeline(rows)
	s.jobAttempts(rows)
	s.jobError(rows)
	s.jobEffects(q, id)
	s.jobFacts(j.State, j.Retry, j.Max, j.Losses, j.Priority, j.Timeout, j.Created)
	if family := first(s.main, "#job-family"); family != nil {
		var ids []any
		if j.Parent != nil {
			ids = append(ids, *j.Parent)
		}
		var children []int64
		q.rows(&children, `select id from tekrar.jobs where parent_id = $1 order by id`, id)
		for _, child := range children {
			ids = append(ids, child)
		}
		s.says(family, ids...)
	}
}

// once are the numbers on the button that runs the job once more.
func (j listed) once(state string) []any {
	switch left := j.Max - j.Retry; {
	case state == "scheduled" || state == "awaiting":
		return j.attempts(state)
	case state == "succeeded" || left <= 0:
		return []any{j.Attempt + 1}
	default:
		return []any{j.Attempt + 1, left}
	}
}

// planned are the attempts that may still come, latest first. When they would is what
// the policy says, which its own tests compute.
func (s *sheet) planned(of []any) {
	for i, li := range all(s.main, ".plan") {
		if len(of) < 2 {
			s.wrong("%s: no attempt is to come", place(li))
			return
		}
		s.says(first(li, "b"), of[1].(int64)-int64(i))
		for _, at := range all(li, "time") {
			s.claimed[at] = true
		}
	}
	for _, p := range all(s.main, "#job-header p") {
		if strings.Contains(s.words(p), "it gives up") {
			s.claimed[first(p, "time")] = true
		}
	}
}

// timeline: each row with the time to the one below it.
func (s *sheet) timeline(rows []changed) {
	root := first(s.main, "#job-timeline")
	shown := slices.DeleteFunc(all(root, "li"), func(li *html.Node) bool { return attr(li, "class") == "plan" })
	if len(shown) != len(rows) {
		s.wrong("%d rows of history, want %d", len(shown), len(rows))
		return
	}
	for i, row := range rows {
		li := shown[i]
		if idNumber(li) != row.ID {
			s.wrong("row %d of the history is %d, want %d", i, idNumber(li), row.ID)
			continue
		}
		switch {
		case row.State == 1 || row.State == 2:
			s.says(all(li, ".tl-t span")[0], row.Attempt+1)
		case row.Attempt > 0:
			s.says(all(li, ".tl-t span")[0], row.Attempt)
		}
		times := []time.Time{row.At}
		for _, at := range []*time.Time{row.Cancel, row.Due} {
			if at != nil {
				times = append(times, *at)
			}
		}
		s.times(li, times...)
		for _, p := range all(li, ".tl-b p") {
			s.historyLine(p, rows, i)
		}
	}
	s.says(first(root, ".tl-end"), len(rows))
}

// historyLine is one of the lines of a row: what was measured, the gap, or a text.
func (s *sheet) historyLine(p *html.Node, rows []changed, i int) {
	us := func(n *int64) time.Duration { return time.Duration(*n) * time.Microsecond }
	switch class := attr(p, "class"); {
	case strings.HasPrefix(class, "gap"):
		if gap := rows[i].At.Sub(rows[i+1].At); gap == 0 {
			s.says(p)
		} else {
			s.says(p, gap)
		}
	case class == "quiet" && first(p, "time") == nil:
		for _, part := range strings.Split(s.words(p), " · ") {
			switch {
			case strings.HasPrefix(part, "started "):
				s.compare(place(p), part, []any{us(rows[i].Latency)})
			case strings.HasPrefix(part, "took "):
				s.compare(place(p), part, []any{us(rows[i].Duration)})
			case strings.HasPrefix(part, "server ") && rows[i].Worker != nil:
				_, worker, _ := strings.Cut(part, ", worker ")
				s.compare(place(p), worker, []any{*rows[i].Worker})
			}
		}
	case rows[i].Cancel != nil && strings.Contains(s.words(p), "cancel requested by"):
		s.says(p, rows[i].At.Sub(*rows[i].Cancel))
	case class != "tl-t":
		s.words(p) // a reason or an error, as it was recorded
	}
}
