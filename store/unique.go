package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// UniqueScope says how long a job holds its unique key.
type UniqueScope int16

// The scopes of a unique key.
const (
	UniqueWhileWaiting  UniqueScope = 1 // enqueued, scheduled (retries included) or awaiting
	UniqueUntilFinished UniqueScope = 2 // waiting or processing
	UniqueFor           UniqueScope = 3 // a period from the enqueue, whatever becomes of the job
)

// Unique is the key of a job. Two jobs of one hash are not there together within
// the holder's scope.
type Unique struct {
	Hash  [32]byte
	Scope UniqueScope
	For   time.Duration // with UniqueFor
}

// The no-op update takes the lock of a key that is there: one that another
// transaction is about to take is waited for, and taken over if that rolls back.
const lockKeys = `insert into tekrar.unique_keys (key_hash, scope)
select h, s from unnest($1::bytea[], $2::smallint[]) as u(h, s) order by h
on conflict (key_hash) do update set scope = unique_keys.scope`

const holdersLive = `case u.scope
  when 3 then u.until > clock_timestamp()
  else exists (select 1 from tekrar.ready r where r.job_id = u.job_id)
    or exists (select 1 from tekrar.scheduled r where r.job_id = u.job_id)
    or exists (select 1 from tekrar.awaiting r where r.job_id = u.job_id)
    or (u.scope = 2 and exists (select 1 from tekrar.running r where r.job_id = u.job_id)) end`

// It is a statement of its own, so that its snapshot is younger than the locks.
const findHolders = `select u.key_hash, u.job_id,
  coalesce((select state from tekrar.history h where h.job_id = u.job_id and h.state <= 6 order by h.id desc limit 1), 0)
from tekrar.unique_keys u where u.key_hash = any($1::bytea[]) and u.job_id is not null and ` + holdersLive

const holdKeys = `update tekrar.unique_keys u set job_id = i.job_id, scope = i.scope,
  until = case when i.for_us > 0 then clock_timestamp() + i.for_us * interval '1 microsecond' end
from unnest($1::bytea[], $2::bigint[], $3::smallint[], $4::bigint[]) as i(key_hash, job_id, scope, for_us)
where u.key_hash = i.key_hash`

// EnqueueUnique enqueues jobs of which some have unique keys, inside the
// caller's transaction. A job whose key is held is not stored: its Created names
// the holder and is marked Duplicate.
func (db *DB) EnqueueUnique(ctx context.Context, q Querier, jobs []NewJob, wake []string) ([]Created, error) {
	var hashes [][]byte
	var scopes []int64
	for i := range jobs {
		if u := jobs[i].Unique; u != nil {
			hashes, scopes = append(hashes, u.Hash[:]), append(scopes, int64(u.Scope))
		}
	}
	hashes, scopes = distinctKeys(hashes, scopes)
	if _, err := q.ExecContext(ctx, db.sql(lockKeys), pq.Array(hashes), pq.Array(scopes)); err != nil {
		return nil, fmt.Errorf("lock unique keys: %w", err)
	}
	holders, err := db.keyHolders(ctx, q, hashes)
	if err != nil {
		return nil, err
	}
	all := make([]Created, len(jobs))
	var fresh []NewJob
	var at []int
	first := map[[32]byte]int{} // the first job of the batch with a key
	for i := range jobs {
		u := jobs[i].Unique
		if u != nil {
			if holder, held := holders[u.Hash]; held {
				all[i] = holder
				continue
			}
			if _, again := first[u.Hash]; again {
				continue
			}
			first[u.Hash] = i
		}
		fresh, at = append(fresh, jobs[i]), append(at, i)
	}
	if len(fresh) > 0 {
		created, err := db.EnqueueIn(ctx, q, fresh, wake)
		if err != nil {
			return nil, err
		}
		for n, i := range at {
			all[i] = created[n]
		}
	}
	for i := range jobs {
		if u := jobs[i].Unique; u != nil && all[i].ID == 0 {
			all[i] = all[first[u.Hash]]
			all[i].Duplicate = true
		}
	}
	return all, db.holdKeys(ctx, q, jobs, all)
}

func (db *DB) keyHolders(ctx context.Context, q Querier, hashes [][]byte) (map[[32]byte]Created, error) {
	rows, err := q.QueryContext(ctx, db.sql(findHolders), pq.Array(hashes))
	if err != nil {
		return nil, fmt.Errorf("look up unique keys: %w", err)
	}
	defer rows.Close()
	holders := map[[32]byte]Created{}
	for rows.Next() {
		var hash []byte
		c := Created{Duplicate: true}
		if err := rows.Scan(&hash, &c.ID, &c.State); err != nil {
			return nil, err
		}
		holders[[32]byte(hash)] = c
	}
	return holders, rows.Err()
}

func (db *DB) holdKeys(ctx context.Context, q Querier, jobs []NewJob, all []Created) error {
	var hashes [][]byte
	var ids, scopes, periods []int64
	for i := range jobs {
		if u := jobs[i].Unique; u != nil && !all[i].Duplicate {
			hashes, ids = append(hashes, u.Hash[:]), append(ids, all[i].ID)
			scopes, periods = append(scopes, int64(u.Scope)), append(periods, u.For.Microseconds())
		}
	}
	if len(ids) == 0 {
		return nil
	}
	if _, err := q.ExecContext(ctx, db.sql(holdKeys), pq.Array(hashes), pq.Array(ids), pq.Array(scopes), pq.Array(periods)); err != nil {
		return fmt.Errorf("hold unique keys: %w", err)
	}
	return nil
}

func distinctKeys(hashes [][]byte, scopes []int64) ([][]byte, []int64) {
	seen := map[string]bool{}
	var h [][]byte
	var s []int64
	for i := range hashes {
		if !seen[string(hashes[i])] {
			seen[string(hashes[i])] = true
			h, s = append(h, hashes[i]), append(s, scopes[i])
		}
	}
	return h, s
}

// ReleaseKeys removes keys whose holder no longer counts, up to 1,000. A key
// that changed hands since it was looked at stays.
func (db *DB) ReleaseKeys(ctx context.Context) (n int, err error) {
	err = db.txRetry(ctx, func(tx *sqlx.Tx) error {
		var dead []struct {
			Hash []byte `db:"key_hash"`
			Job  int64  `db:"job_id"`
		}
		if err := tx.SelectContext(ctx, &dead, db.sql(`select u.key_hash, u.job_id from tekrar.unique_keys u
where u.job_id is not null and not (`+holdersLive+`) limit 1000`)); err != nil {
			return err
		}
		hashes, ids := make([][]byte, len(dead)), make([]int64, len(dead))
		for i, d := range dead {
			hashes[i], ids[i] = d.Hash, d.Job
		}
		r, err := tx.ExecContext(ctx, db.sql(`delete from tekrar.unique_keys u
using unnest($1::bytea[], $2::bigint[]) as d(key_hash, job_id) where u.key_hash = d.key_hash and u.job_id = d.job_id`), pq.Array(hashes), pq.Array(ids))
		if err != nil {
			return err
		}
		gone, err := r.RowsAffected()
		n = int(gone)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("release unique keys: %w", err)
	}
	return n, nil
}
