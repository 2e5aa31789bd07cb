package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// effectStale: the holder of c is gone. A job's claim follows its running row. It
// is never judged by a statement that is older than the claim: having waited for
// the row's lock, such a statement looks for the new holder's running row in a
// snapshot from before that row existed, and would take a live claim away.
const effectStale = `(case when c.job_id is null then c.stale_at < clock_timestamp()
  else c.claimed_at < statement_timestamp() and not ` + effectAlive + ` end)`

const effectAlive = `exists (select 1 from tekrar.running r where r.job_id = c.job_id and r.attempt = c.attempt and r.server = c.server)`

const effectColumns = effectFacts + `
  c.state in (1, 2) and ` + effectStale + `,` + effectRest

// freshColumns are effectColumns of a row that the statement itself has just made
// live or settled: it is not stale, and a statement that does not ask costs half.
const freshColumns = effectFacts + ` false,` + effectRest

const effectFacts = `c.key, c.token, c.state, c.generation, c.reclaims,
  coalesce(c.job_id, 0), coalesce(c.attempt, 0), coalesce(c.server, 0), c.holder, c.stale_us,
  c.claimed_at, c.begun_at, c.effect_at, c.doubt_at, c.settled_at, coalesce(c.key_life_us, 0),`

const effectRest = `
  case when c.job_id is null then c.stale_at
       else coalesce((select s.lease_until from tekrar.servers s where s.id = c.server), clock_timestamp()) end, clock_timestamp(),
  coalesce(c.fingerprint, ''), coalesce(c.reason, ''), coalesce(c.receipt::text, 'null'), c.past::text`

func scanEffect(r *sql.Rows, also ...any) (e Effect, err error) {
	var staleUS, lifeUS int64
	var receipt, past string
	err = r.Scan(append([]any{&e.Key, &e.Token, &e.State, &e.Generation, &e.Reclaims,
		&e.Holder.JobID, &e.Holder.Attempt, &e.Holder.Server, &e.Holder.Name, &staleUS,
		&e.ClaimedAt, &e.BegunAt, &e.EffectAt, &e.DoubtAt, &e.SettledAt, &lifeUS,
		&e.Stale, &e.Until, &e.Now, &e.Fingerprint, &e.Reason, &receipt, &past}, also...)...)
	e.Holder.StaleAfter, e.KeyLife = time.Duration(staleUS)*time.Microsecond, time.Duration(lifeUS)*time.Microsecond
	e.Receipt, e.Past = []byte(receipt), []byte(past)
	return e, err
}

// onEffects runs one statement in q. A pool would run a write a second time when
// a connection dies after it: of a pool one connection is taken. nil is our own.
func (db *DB) onEffects(ctx context.Context, q Querier, text string, scan func(*sql.Rows) error, args ...any) (err error) {
	text = db.sql(text)
	if own, ok := q.(*DB); q == nil || ok && own == db {
		return db.effecters().with(ctx, func(s *session) error { return s.query(ctx, text, scan, args...) })
	}
	if pool, ok := q.(interface {
		Conn(context.Context) (*sql.Conn, error)
	}); ok {
		conn, err := pool.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		q = conn
	}
	rows, err := q.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// oneEffect is onEffects for a statement that returns effectColumns of one row;
// found is false when it returns none.
func (db *DB) oneEffect(ctx context.Context, q Querier, text string, args ...any) (e Effect, found bool, err error) {
	err = db.onEffects(ctx, q, text, func(r *sql.Rows) error {
		found = true
		e, err = scanEffect(r)
		return err
	}, args...)
	return e, found, err
}

// changedEffect is oneEffect for a conditional update: no row means that the
// token no longer holds.
func (db *DB) changedEffect(ctx context.Context, q Querier, what, text string, args ...any) (Effect, error) {
	e, found, err := db.oneEffect(ctx, q, text, args...)
	if err == nil && !found {
		err = ErrStateChanged
	}
	if err != nil {
		return Effect{}, fmt.Errorf("%s effect claim: %w", what, err)
	}
	return e, nil
}
