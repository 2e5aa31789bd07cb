package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/lib/pq"
)

// NoParentError: the job that a continuation is to wait for does not exist, or
// retention has removed it.
type NoParentError struct{ ID int64 }

func (e *NoParentError) Error() string { return fmt.Sprintf("parent %d does not exist", e.ID) }

// The condition is worded once, for the history row.
var awaitStatement = transition(enqueueInput(", parent_id, condition", ", unnest($16::bigint[]), unnest($17::smallint[])")+
	moved("input", map[string]string{
		"state": "-1::smallint", "at": "s.at", "parent_id": "s.parent_id", "condition": "s.condition",
		"attempt": "0", "retry": "0", "snoozes": "0", "losses": "0::smallint",
		"reason": "'Waits for job ' || s.parent_id || (array[' to succeed', ' to fail', ' to end'])[s.condition]",
	}), toAwaiting, `select
  (select array_agg(job_id order by ord) from input),
  (select array_agg((-1)::smallint order by ord) from input),
  (select count(pg_notify($10, p)) from unnest($11::text[]) p)`)

// enqueueAfter enqueues jobs of which some have parents. Each of those awaits
// first, and what is due already starts by a second statement, whose snapshot is
// younger. A parent that ends in between is seen by whoever gets the notification,
// which comes with the commit, and by every sweep.
func (db *DB) enqueueAfter(ctx context.Context, q Querier, jobs []NewJob, wake []string) ([]Created, error) {
	var plain, after []NewJob
	var parents, conditions []int64
	for _, j := range jobs {
		if j.Parent == 0 {
			plain = append(plain, j)
			continue
		}
		after = append(after, j)
		parents, conditions = append(parents, j.Parent), append(conditions, int64(j.Condition))
	}
	if err := db.lockParents(ctx, q, parents); err != nil {
		return nil, err
	}
	now := []Created{}
	if len(plain) > 0 {
		var err error
		if now, err = db.EnqueueIn(ctx, q, plain, wake); err != nil {
			return nil, err
		}
	}
	args := append(db.enqueueArgs(after, awaitingPayloads(parents)), pq.Array(parents), pq.Array(conditions))
	later, err := scanCreated(q.QueryRowContext(ctx, db.sql(awaitStatement), args...).Scan, len(after))
	if err != nil {
		return nil, err
	}
	ids, at := make([]int64, len(later)), make(map[int64]int, len(later))
	for i, c := range later {
		ids[i], at[c.ID] = c.ID, i
	}
	due, err := db.continueIn(ctx, q, ofJobs, ids)
	if err != nil {
		return nil, err
	}
	for _, c := range due {
		if i, mine := at[c.ID]; mine {
			later[i].State = c.State
		}
	}
	all := make([]Created, 0, len(jobs))
	for _, j := range jobs {
		from := &now
		if j.Parent != 0 {
			from = &later
		}
		all, *from = append(all, (*from)[0]), (*from)[1:]
	}
	return all, nil
}

// lockParents keeps retention from removing the parents before the commit.
func (db *DB) lockParents(ctx context.Context, q Querier, parents []int64) error {
	rows, err := q.QueryContext(ctx, db.sql(`select id from tekrar.jobs where id = any($1) order by id for key share`), pq.Array(parents))
	if err != nil {
		return fmt.Errorf("look up parents: %w", err)
	}
	defer rows.Close()
	found := map[int64]bool{}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		found[id] = true
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("look up parents: %w", err)
	}
	for _, id := range parents {
		if !found[id] {
			return &NoParentError{id}
		}
	}
	return nil
}

// hintMax is how many parents one notification names: ids of 19 digits stay below
// the 8,000 bytes that a payload may have.
const hintMax = 300

func awaitingPayloads(parents []int64) []string {
	seen := map[int64]bool{}
	var names []string
	for _, id := range parents {
		if !seen[id] {
			seen[id] = true
			names = append(names, strconv.FormatInt(id, 10))
		}
	}
	if len(names) > hintMax {
		return []string{"a"}
	}
	return []string{"a" + strings.Join(names, ",")}
}

// ParentList is ids of parents as a notification carries them.
type ParentList string

// IDs reads the list; nil when it names none.
func (l ParentList) IDs() (ids []int64) {
	for _, word := range strings.Split(string(l), ",") {
		id, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil
		}
		ids = append(ids, id)
	}
	return ids
}
