package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tekrar/tekrar/store"
)

const (
	waitWarning = time.Minute
	waitWrong   = 15 * time.Minute
	lostRecent  = time.Hour
)

func (e *examination) servers(ctx context.Context, d store.Diagnosis) {
	servers, err := e.db.Servers(ctx)
	if err != nil {
		e.add("servers", wrong, err.Error(), "")
		return
	}
	queues, err := e.db.Queues(ctx)
	if err != nil {
		e.add("queues", wrong, err.Error(), "")
		return
	}
	e.waiting(queues, e.leases(servers), d.Now)
}

// leases looks at the signs of life and gives the number of live servers.
func (e *examination) leases(servers []store.ServerRow) (live int) {
	var overdue, lost, deaf []string
	for _, s := range servers {
		switch serverState(s) {
		case "live", "draining":
			live++
			if !s.Listening {
				deaf = append(deaf, s.Name)
			}
		case "overdue":
			overdue = append(overdue, s.Name)
		case "lost":
			if s.Now.Sub(*s.LostAt) < lostRecent {
				lost = append(lost, s.Name)
			}
		}
	}
	switch {
	case len(overdue) > 0:
		e.add("leases", warning, "no sign of life in time: "+strings.Join(overdue, ", "), "its jobs are taken over within a lease; if it still runs, look at its database connection and its load")
	case len(lost) > 0:
		e.add("leases", warning, "lost within the last hour: "+strings.Join(lost, ", "), "its jobs were taken over; find out why it ended: out of memory, kill -9, network")
	default:
		e.add("leases", fine, fmt.Sprintf("%d servers live, none overdue or lost", live), "")
	}
	if len(deaf) > 0 && !e.db.Pooled() {
		e.add("listeners", warning, "polling instead of LISTEN: "+strings.Join(deaf, ", "), "jobs start up to a poll interval late; give them a direct address")
	}
	return live
}

func (e *examination) waiting(queues []store.QueueRow, live int, now time.Time) {
	var idle []string
	var oldest *store.QueueRow
	for i, q := range queues {
		if q.Depth.N == 0 || q.PausedAt != nil {
			continue
		}
		if q.Servers == 0 {
			idle = append(idle, q.Name)
		}
		if q.OldestReady != nil && (oldest == nil || q.OldestReady.Before(*oldest.OldestReady)) {
			oldest = &queues[i]
		}
	}
	switch {
	case len(idle) > 0:
		e.add("workers", wrong, "jobs wait where no live server works: "+strings.Join(idle, ", "), "start a worker for these queues (jobs.Config.Queues), or pause them on purpose")
	case live == 0:
		e.add("workers", warning, "no server is live; nothing waits", "start a program that runs jobs")
	default:
		e.add("workers", fine, "every queue with waiting jobs has a live server", "")
	}
	if oldest == nil {
		e.add("oldest waiting", fine, "no job waits", "")
		return
	}
	wait := now.Sub(*oldest.OldestReady)
	level, advice := fine, ""
	if wait > waitWarning {
		level, advice = warning, "add workers, or look for a kind that no server handles (the dashboard's overview names it)"
	}
	if wait > waitWrong {
		level = wrong
	}
	e.add("oldest waiting", level, fmt.Sprintf("in queue %s for %s", oldest.Name, age(wait)), advice)
}
