package store

import (
	"context"
	"time"
)

// Walked counts the rows that a search for all of f looks at.
func (db *DB) Walked(ctx context.Context, f JobFilter) (n int, err error) {
	at, id, err := f.After.after(f.State)
	if err != nil {
		return 0, err
	}
	_, _, err = db.walk(ctx, f, place{at, id}, time.Minute, func(candidate) bool {
		n++
		return true
	})
	return n, err
}

// Reading is a statement that pages run, with example parameters as SQL literals.
type Reading struct{ Text, Params string }

// Readings gives the statements of pages to tests that look at their plans.
func Readings(db *DB) map[string]Reading {
	list := func(f JobFilter) string { return db.sql(hotList(f.page(), hotOrder[f.State])) }
	const (
		hot   = `'', 'k1', '2020-01-01', 5, 51`
		held  = `'{1,2}', '{q1,q2}', '{3,4}'`
		known = `'{q1,q2}', '{0,0}', '{2020-01-01,2020-01-01}'`
	)
	return map[string]Reading{
		"enqueued":            {list(JobFilter{State: Enqueued}), hot},
		"processing":          {list(JobFilter{State: Processing}), hot},
		"scheduled":           {list(JobFilter{State: Scheduled}), hot + `, 0`},
		"failed":              {list(JobFilter{State: Failed}), hot},
		"scheduled, kind":     {list(JobFilter{State: Scheduled, Kind: "k1"}), hot + `, 0`},
		"scheduled, queue":    {list(JobFilter{State: Scheduled, Queue: "q1"}), `'q1', '', '2020-01-01', 5, 51, 0`},
		"retrying":            {list(JobFilter{State: Scheduled, Cause: CauseRetry}), `'', '', '2020-01-01', 5, 51, 2`},
		"failed, kind":        {list(JobFilter{State: Failed, Kind: "k1"}), hot},
		"failed, queue":       {list(JobFilter{State: Failed, Queue: "q1"}), `'q1', '', '2020-01-01', 5, 51`},
		"awaiting":            {list(JobFilter{State: Awaiting}), hot},
		"awaiting sweep":      {db.sql(sweepAwaiting), `1, 1, 2000`},
		"family":              {db.sql(family), `1, 21`},
		"finished":            {db.sql(finishedCandidates), `4, '', '', 9223372036854775807, 51`},
		"finished, kind":      {db.sql(finishedCandidates), `4, 'k1', '', 9223372036854775807, 51`},
		"finished, rows":      {db.sql(finishedRows), `'{1,2,3}', '{1,2,3}'`},
		"rows by id":          {db.sql(jobRowsByID), `'{1,2,3}'`},
		"job":                 {db.sql(jobDetail), `1, 30000000`},
		"job history":         {db.sql(jobHistory), `1, 9223372036854775807, 50`},
		"all counts":          {db.sql(allCounts.usual), ``},
		"retrying count":      {db.sql("select " + retrying), ``},
		"pending":             {db.sql(pending), `10001`},
		"scheduled count":     {db.sql(hotCounts[Scheduled]), `'q1', 'k1', 0`},
		"failed count, kind":  {db.sql(failedKindCount), `'', 'k1'`},
		"failed count, queue": {db.sql(failedQueueCount), `'q1', ''`},
		"kind count":          {db.sql(kindCount), `'', 'k1', 4`},
		"any kind count":      {db.sql(anyKindCount), `'', '', 4`},
		"queues":              {db.sql(queueList.usual), `'', 10001`},
		"front":               {db.sql(frontLook), `''`},
		"all counts, known":   {db.sql(allCounts.bloated), known + `, ` + held},
		"queues, known":       {db.sql(queueList.bloated), `'', 10001, ` + known + `, ` + held},
		"enqueued, known":     {db.sql(enqueuedList.bloated), hot + `, ` + known},
		"servers":             {db.sql(serverList.usual), ``},
		"servers, known":      {db.sql(serverList.bloated), held},
		"held":                {db.sql(heldLook), ``},
		"enqueued count":      {db.sql(enqueuedCount.bloated), `'', 'k1', ` + known},
		"failure groups":      {db.sql(groupsOf), `false, 50`},
		"failure group":       {list(JobFilter{State: Failed, Group: new(int64)}), `'', 'k1', '2030-01-01', 5, 51, 101`},
		"one group":           {db.sql(oneGroup), `'k1', 101`},
		"muted failures":      {db.sql(mutedFailures), ``},
		"audit":               {db.sql(auditPages[[2]bool{}]), `9223372036854775807, 51, '', ''`},
		"audit, actor":        {db.sql(auditPages[[2]bool{true, false}]), `9223372036854775807, 51, 'ann', ''`},
	}
}

// FinishedLook is how many history rows one page of finished jobs looks at.
const FinishedLook = candidatesMax
