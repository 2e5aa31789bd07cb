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
	const hot = `'', 'k1', '2020-01-01', 5, 51`
	return map[string]Reading{
		"enqueued":       {db.sql(hotLists[Enqueued]), hot},
		"processing":     {db.sql(hotLists[Processing]), hot},
		"scheduled":      {db.sql(hotLists[Scheduled]), hot + `, 0`},
		"failed":         {db.sql(hotLists[Failed]), hot},
		"awaiting":       {db.sql(hotLists[Awaiting]), hot},
		"awaiting sweep": {db.sql(sweepAwaiting), `1, 1, 2000`},
		"family":         {db.sql(family), `1, 21`},
		"finished":       {db.sql(finishedCandidates), `4, '', '', 9223372036854775807, 51`},
		"finished, kind": {db.sql(finishedCandidates), `4, 'k1', '', 9223372036854775807, 51`},
		"finished, rows": {db.sql(finishedRows), `'{1,2,3}', '{1,2,3}'`},
		"rows by id":     {db.sql(jobRowsByID), `'{1,2,3}'`},
		"job":            {db.sql(jobDetail), `1, 30000000`},
		"job history":    {db.sql(jobHistory), `1, 9223372036854775807, 50`},
		"all counts":     {db.sql(allCounts), ``},
		"kind count":     {db.sql(kindCount), `'', 'k1', 4`},
		"any kind count": {db.sql(anyKindCount), `'', '', 4`},
		"queues":         {db.sql(queueList), `'', 10001`},
		"oldest ready":   {db.sql(oldestReady), `''`},
		"failure groups": {db.sql(groupsOf), `false, 50`},
		"failure group":  {db.sql(groupList), `'', 'k1', '2030-01-01', 5, 51, 101`},
		"one group":      {db.sql(oneGroup), `'k1', 101`},
		"muted failures": {db.sql(mutedFailures), ``},
		"audit":          {db.sql(auditPages[[2]bool{}]), `9223372036854775807, 51, '', ''`},
		"audit, actor":   {db.sql(auditPages[[2]bool{true, false}]), `9223372036854775807, 51, 'ann', ''`},
	}
}

// FinishedLook is how many history rows one page of finished jobs looks at.
const FinishedLook = candidatesMax
