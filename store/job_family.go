package store

import (
	"context"
	"fmt"
)

// Relative is a job beside another one: its parent, a continuation, or what it copies.
type Relative struct {
	ID        int64     `db:"id"`
	Kind      string    `db:"kind"`
	State     State     `db:"state"`     // 0 when retention has removed the job
	Condition Condition `db:"condition"` // 0 of what it copies
}

// Family is what a job waits or waited for, and what waits or waited for it.
type Family struct {
	Parent        *Relative // with the condition of the job itself; nil: none
	Continuations []Relative
	More          bool      // there are more continuations
	CopyOf        *Relative // the job of which this one is a copy; nil: none
}

// The parent comes first, then the continuations in the order in which they were made.
const family = `select 0 as part, j.parent_id as id, coalesce(p.kind, '') as kind, j.condition, coalesce(l.state, 0) as state
from tekrar.jobs j
left join lateral (select kind from tekrar.jobs where id = j.parent_id offset 0) p on true
left join lateral (select state from tekrar.history where job_id = j.parent_id and state <= 6 order by id desc limit 1) l on true
where j.id = $1 and j.parent_id is not null
union all
select * from (
select 2, c.id, coalesce(o.kind, ''), 0::smallint, coalesce(l.state, 0)
from (select case when f.data ->> 'copied_from' ~ '^[0-9]{1,18}$' then (f.data ->> 'copied_from')::bigint end as id
      from (select data from tekrar.history where job_id = $1 order by id limit 1) f) c
left join lateral (select kind from tekrar.jobs where id = c.id offset 0) o on true
left join lateral (select state from tekrar.history where job_id = c.id and state <= 6 order by id desc limit 1) l on true
where c.id is not null) o
union all
select * from (
select 1, j.id, j.kind, j.condition, coalesce(l.state, 0)
from (select id, kind, condition from tekrar.jobs where parent_id = $1 order by parent_id, id limit $2) j
left join lateral (select state from tekrar.history where job_id = j.id and state <= 6 order by id desc limit 1) l on true
order by j.id) c`

// Family reads the relatives of a job: its parent, its first limit continuations and
// what it is a copy of.
func (db *DB) Family(ctx context.Context, id int64, limit int) (f Family, err error) {
	var rows []struct {
		Part int `db:"part"`
		Relative
	}
	if err := db.SelectContext(ctx, &rows, db.sql(family), id, limit+1); err != nil {
		return Family{}, fmt.Errorf("read the relatives of job %d: %w", id, err)
	}
	for _, r := range rows {
		switch r.Part {
		case 0:
			f.Parent = &r.Relative
		case 1:
			f.Continuations = append(f.Continuations, r.Relative)
		default:
			f.CopyOf = &r.Relative
		}
	}
	if f.More = len(f.Continuations) > limit; f.More {
		f.Continuations = f.Continuations[:limit]
	}
	return f, nil
}
