package store

import "strings"

// A transition is one statement: rows leave one hot table, enter another, and
// history and statistics are appended. The head of the statement ends in a CTE
// "moved" with one row a job and all of these columns; this file is the only
// writer of what follows from it.
const movedColumns = `job_id, at, run_at, server, latency_us, duration_us, fingerprint, ` +
	`attempt, retry, snoozes, worker, losses, priority, state, cause, outcome, bucket, ` +
	`queue, kind, reason, actor, data, failed_reason, failed_data, error_type, error_line`

// defaults of moved columns; a head names only what it sets.
var movedDefaults = map[string]string{
	"at": "clock_timestamp()", "run_at": "null::timestamptz", "server": "null::bigint",
	"latency_us": "null::bigint", "duration_us": "null::bigint", "fingerprint": "0::bigint",
	"worker": "null::integer", "cause": "null::smallint", "outcome": "null::smallint",
	"bucket": "null::smallint", "reason": "null::text", "actor": "null::text", "data": "null::jsonb",
	"failed_reason": "null::text", "failed_data": "null::jsonb", "error_type": "''", "error_line": "''",
}

// awaitingColumns are needed by toAwaiting only; the hot statements go without.
var awaitingColumns = []string{"parent_id", "condition"}

// moved writes the CTE "moved" from a source; set overrides single columns,
// every column that neither set nor the defaults name is taken from the source.
// Columns of one statement alone (awaitingColumns) come last, if set names them.
func moved(source string, set map[string]string) string {
	var b strings.Builder
	b.WriteString("moved as materialized (select ")
	for i, col := range strings.Split(movedColumns, ", ") {
		expr, ok := set[col]
		if !ok {
			if expr, ok = movedDefaults[col]; !ok {
				expr = "s." + col
			}
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(expr + " as " + col)
	}
	for _, col := range awaitingColumns {
		if expr, ok := set[col]; ok {
			b.WriteString(", " + expr + " as " + col)
		}
	}
	b.WriteString(" from " + source + " s)")
	return b.String()
}

// target says which tables a transition can reach; a CTE for a table that no row
// can enter would still be started and stopped for every statement.
type target uint8

const (
	toReady target = 1 << iota
	toRunning
	toScheduled
	toFailed
	toAwaiting
	viaFailed // a row with failed_reason writes a failed history row first, at the same instant
	counted   // outcome and bucket go to the statistics of $1 = server
)

const (
	insertReady = `, to_ready as (
insert into tekrar.ready (job_id, ready_at, attempt, retry, snoozes, losses, priority, queue, kind)
select job_id, clock_timestamp(), attempt, retry, snoozes, losses, priority, queue, kind from moved where state = 2)`

	insertRunning = `, to_running as (
insert into tekrar.running (job_id, started_at, server, attempt, retry, snoozes, losses, priority, queue, kind)
select job_id, at, server, attempt, retry, snoozes, losses, priority, queue, kind from moved where state = 3)`

	insertScheduled = `, to_scheduled as (
insert into tekrar.scheduled (job_id, run_at, attempt, retry, snoozes, losses, priority, cause, queue, kind)
select job_id, run_at, attempt, retry, snoozes, losses, priority, cause, queue, kind from moved where state = 1)`

	insertFailed = `, to_failed as (
insert into tekrar.failed (job_id, failed_at, fingerprint, attempt, retry, snoozes, losses, priority, outcome, queue, kind, error_type, error_line)
select job_id, at, fingerprint, attempt, retry, snoozes, losses, priority, outcome, queue, kind, error_type, error_line from moved where state = 5)`

	insertAwaiting = `, to_awaiting as (
insert into tekrar.awaiting (job_id, parent_id, since, condition, priority, queue, kind)
select job_id, parent_id, at, condition, priority, queue, kind from moved where state = -1)`

	insertHistory = `, wrote as (
insert into tekrar.history (job_id, at, server, latency_us, duration_us, attempt, worker, state, queue, kind, reason, actor, data)
select job_id, at, server, latency_us, duration_us, attempt, worker, state, queue, kind, reason, actor, data from moved)`

	// One insert writes both rows of an instant, so that their ids keep the order.
	insertHistoryViaFailed = `, wrote as (
insert into tekrar.history (job_id, at, server, latency_us, duration_us, attempt, worker, state, queue, kind, reason, actor, data)
select job_id, at, server, latency_us, duration_us, attempt, worker, 5::smallint, queue, kind, failed_reason, actor, failed_data
from moved where failed_reason is not null
union all
select job_id, at, server, latency_us, case when failed_reason is null then duration_us end, attempt, worker, state, queue, kind, reason, actor, data
from moved)`

	// Each server counts into rows of its own: no two processes wait for one lock.
	insertStats = `, counted as (
insert into tekrar.stats (minute, server, n, run_us, wait_us, outcome, attempt, bucket, queue, kind)
select date_trunc('minute', at), $1::bigint, count(*), sum(coalesce(duration_us, 0)), sum(coalesce(latency_us, 0)),
       outcome, least(greatest(attempt - snoozes, 1), 20)::smallint, bucket, queue, kind
from moved where outcome is not null
group by date_trunc('minute', at), outcome, least(greatest(attempt - snoozes, 1), 20), bucket, queue, kind
on conflict (minute, server, kind, queue, outcome, attempt, bucket)
do update set n = stats.n + excluded.n, run_us = stats.run_us + excluded.run_us, wait_us = stats.wait_us + excluded.wait_us)`
)

// transition composes the statement: the head's CTEs (ending in moved), the
// writes, and the final select.
func transition(head string, to target, final string) string {
	var b strings.Builder
	b.WriteString("with ")
	b.WriteString(head)
	for _, part := range []struct {
		when target
		text string
	}{{toReady, insertReady}, {toRunning, insertRunning}, {toScheduled, insertScheduled}, {toFailed, insertFailed}, {toAwaiting, insertAwaiting}, {counted, insertStats}} {
		if to&part.when != 0 {
			b.WriteString(part.text)
		}
	}
	if to&viaFailed != 0 {
		b.WriteString(insertHistoryViaFailed)
	} else {
		b.WriteString(insertHistory)
	}
	b.WriteString("\n")
	b.WriteString(final)
	return b.String()
}
