package web_test

import (
	"slices"
	"time"

	"github.com/lib/pq"
)

const liveServers = `(select * from tekrar.servers where stopped_at is null and lost_at is null and lease_until > $1)`

// queues checks the table of queues: every one that has a job, a setting or a server.
func (s *sheet) queues(q frozen, compact bool, only ...string) {
	var names []string
	q.rows(&names, `select distinct queue from (select queue from tekrar.ready union select queue from tekrar.running union select queue from tekrar.scheduled
union select queue from tekrar.failed union select queue from tekrar.awaiting union select name from tekrar.queues
union select unnest(queues) from `+liveServers+` l) n order by 1`, q.now)
	if len(only) > 0 {
		names = only
	}
	rows := all(s.main, "#queue-rows tr")
	if len(rows) != len(names) {
		s.wrong("%d queues, want %d: %v", len(rows), len(names), names)
		return
	}
	wait := func(name string) []time.Time {
		return q.maybe(`select min(ready_at) from tekrar.ready where queue = $1`, name)
	}
	if compact {
		slices.SortStableFunc(names, func(a, b string) int { return longest(wait(a), wait(b)) })
	} else {
		s.says(first(s.main, "caption"), len(rows))
	}
	for i, row := range rows {
		name, cells := names[i], all(row, "td")
		if got := s.words(first(row, "th")); got != name {
			s.wrong("row %d is queue %s, want %s", i, got, name)
			continue
		}
		s.says(cells[0], q.n(`select count(*) from tekrar.ready where queue = $1`, name))
		s.times(cells[1], wait(name)...)
		if !compact {
			s.says(cells[2], q.n(`select count(*) from tekrar.running where queue = $1`, name))
			minute := q.now.Truncate(time.Minute)
			done := q.n(`select coalesce(sum(n), 0) from tekrar.stats where queue = $1 and outcome in (1, 3, 4, 5, 9) and minute >= $2`, name, minute.Add(-4*time.Minute))
			s.says(cells[3], rate(float64(done)/5))
			s.says(cells[4], q.n(`select count(*) from `+liveServers+` l where $2 = any(queues)`, q.now, name))
		}
		status := cells[map[bool]int{true: 2, false: 5}[compact]]
		s.times(status, q.maybe(`select max(paused_at) from tekrar.queues where name = $1`, name)...)
	}
}

// longest puts the longest wait first, no wait last.
func longest(a, b []time.Time) int {
	switch {
	case len(a) == 0 || len(b) == 0:
		return len(b) - len(a)
	default:
		return a[0].Compare(b[0])
	}
}

func numbersOfQueues(s *sheet, q frozen)   { s.queues(q, false) }
func numbersOfOneQueue(s *sheet, q frozen) { s.queues(q, false, "orders") }

// numbersOfServers: the servers, then the kinds.
func numbersOfServers(s *sheet, q frozen) {
	var servers []struct {
		ID, PID, Slots, Running int64
		Kinds                   pq.StringArray
		Seen                    time.Time `db:"seen_at"`
		Lease                   time.Time `db:"lease_until"`
		Started                 time.Time `db:"started_at"`
		Draining, Stopped, Lost *time.Time
	}
	q.rows(&servers, `select id, pid, slots, kinds, seen_at, lease_until, started_at, draining_at as draining, stopped_at as stopped, lost_at as lost,
  (select count(*) from tekrar.running where server = s.id) as running
from tekrar.servers s order by (stopped_at is not null or lost_at is not null), started_at desc, id desc`)
	rows := all(s.main, "#server-rows tr")
	if len(rows) != len(servers) {
		s.wrong("%d servers, want %d", len(rows), len(servers))
		return
	}
	for i, row := range rows {
		v, cells := servers[i], all(row, "td")
		s.words(first(row, "th")) // name, host and version are texts
		s.contains(first(row, "th"), "pid", v.PID)
		var since []time.Time
		for _, at := range []*time.Time{v.Lost, v.Stopped, v.Draining} {
			if at != nil && len(since) == 0 {
				since = append(since, *at)
			}
		}
		s.times(cells[0], since...)
		s.says(cells[1], v.Running, v.Slots)
		s.times(cells[2], v.Seen)
		if v.Stopped == nil && v.Lost == nil {
			s.times(cells[3], v.Lease)
		}
		s.says(first(cells[5], "summary"), len(v.Kinds))
		s.times(cells[6], v.Started)
	}
	s.kinds(q)
}

func (s *sheet) kinds(q frozen) {
	var kinds []struct {
		Kind    string
		Max     int64     `db:"max_retries"`
		Timeout *int64    `db:"timeout_ms"`
		Seen    time.Time `db:"seen_at"`
	}
	q.rows(&kinds, `select kind, max_retries, timeout_ms, seen_at from tekrar.kinds order by kind`)
	tables := all(s.main, "table")
	rows := all(tables[len(tables)-1], "tbody tr")
	if len(rows) != len(kinds) {
		s.wrong("%d kinds, want %d", len(rows), len(kinds))
		return
	}
	for i, row := range rows {
		k, cells := kinds[i], all(row, "td")
		if got := s.words(first(row, "th a")); got != k.Kind {
			s.wrong("row %d is kind %s, want %s", i, got, k.Kind)
		}
		if sub := first(row, "th .sub"); sub != nil {
			s.says(sub, 1)
		}
		s.says(cells[1], k.Max)
		if k.Timeout != nil {
			s.says(cells[2], time.Duration(*k.Timeout)*time.Millisecond)
		}
		s.times(cells[4], k.Seen)
	}
	s.excuse(".warnline", "warnings of a policy, as its server published them")
}
