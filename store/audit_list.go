package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// AuditRow is one thing that somebody did.
type AuditRow struct {
	ID     int64     `db:"id"`
	At     time.Time `db:"at"`
	Actor  string    `db:"actor"`
	Action string    `db:"action"`
	JobID  *int64    `db:"job_id"`
	// Detail is a JSON object or nil. Keys, each only where it applies: from (the
	// state before, as a number), queue, kind, recurring, spec, zone, group, filter,
	// n (jobs it was about), bulk (the operation's id), copied_from (a job's id).
	Detail json.RawMessage `db:"detail"`
	// Bulk is the operation that a row with the key bulk began.
	Bulk *int64 `db:"bulk"`
	// How far that operation came.
	Done    *int64 `db:"done"`
	Skipped *int64 `db:"skipped"`
	// CanUndo: this was a deletion, and what it deleted can be restored now.
	CanUndo bool `db:"can_undo"`
}

// AuditFilter says which rows; empty fields mean any.
type AuditFilter struct {
	Actor, Action string // exactly
	Before        int64  // id of the last row of the page before; 0: the newest
	Limit         int    // 0 or less: 50, at most 500
}

// A deletion can be undone while its job is still deleted: of a bulk operation,
// while one of its first hundred jobs is.
const auditRows = `
select a.id, a.at, a.actor, a.action, a.job_id, a.detail, b.id as bulk, b.done, b.skipped,
       coalesce(case when a.job_id is not null and a.action = 'delete' then
                  (select h.state = 6 from tekrar.history h where h.job_id = a.job_id and h.state <= 6 order by h.id desc limit 1)
                when a.action = 'delete all' then b.undoable end, false) as can_undo
from (%s) a
left join lateral (
    select o.id, o.done, o.skipped, o.action,
           o.state <> 1 and not exists (select 1 from tekrar.bulk_operations u where u.undo_of = o.id) and exists (
             select 1 from (select j.job_id from tekrar.bulk_jobs j where j.bulk_id = o.id order by j.job_id limit 100) j
             cross join lateral (select h.state from tekrar.history h where h.job_id = j.job_id and h.state <= 6 order by h.id desc limit 1) l
             where l.state = 6) as undoable
    from tekrar.bulk_operations o
    where o.id = case when a.detail ->> 'bulk' ~ '^[0-9]{1,18}$' then (a.detail ->> 'bulk')::bigint end offset 0) b on true
order by a.id desc`

func auditPage(where string) string {
	return fmt.Sprintf(auditRows, `select id, at, actor, action, job_id, detail from tekrar.audit
    where id < $1 and `+where+` order by id desc limit $2`)
}

// Each filter has an index of its own that ends in the order of the list.
var auditPages = map[[2]bool]string{
	{false, false}: auditPage("$3::text = '' and $4::text = ''"),
	{true, false}:  auditPage("actor = $3::text and $4::text = ''"),
	{false, true}:  auditPage("action = $4::text and $3::text = ''"),
	{true, true}:   auditPage("actor = $3::text and action = $4::text"),
}

// AuditRows reads one page of what people did, newest first. next is the Before of
// the page after it, 0 when there is none.
func (db *DB) AuditRows(ctx context.Context, f AuditFilter) (rows []AuditRow, next int64, err error) {
	if (JobFilter{Queue: f.Actor, Kind: f.Action}).impossible() {
		return nil, 0, nil
	}
	limit, before := JobFilter{Limit: f.Limit}.limit(), f.Before
	if before <= 0 {
		before = math.MaxInt64
	}
	text := auditPages[[2]bool{f.Actor != "", f.Action != ""}]
	if err := db.SelectContext(ctx, &rows, db.sql(text), before, limit+1, f.Actor, f.Action); err != nil {
		return nil, 0, fmt.Errorf("list audit: %w", err)
	}
	if len(rows) > limit {
		rows = rows[:limit]
		next = rows[limit-1].ID
	}
	return rows, next, nil
}

// AuditWords are the actors and actions that the audit knows, for a list of
// suggestions; at most 200 of each, found by one index probe a word.
func (db *DB) AuditWords(ctx context.Context) (actors, actions []string, err error) {
	for column, words := range map[string]*[]string{"actor": &actors, "action": &actions} {
		err := db.SelectContext(ctx, words, db.sql(fmt.Sprintf(`
with recursive w as (
    (select %[1]s as word from tekrar.audit order by %[1]s limit 1)
    union all
    select (select a.%[1]s from tekrar.audit a where a.%[1]s > w.word order by a.%[1]s limit 1) from w where w.word is not null
) select word from w where word is not null limit 200`, column)))
		if err != nil {
			return nil, nil, fmt.Errorf("list audit: %w", err)
		}
	}
	return actors, actions, nil
}
