package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/lib/pq"
)

// Settled is the outcome of one attempt, as decided; the store writes it if the
// token (ID, Attempt, server) still holds the job.
type Settled struct {
	ID      int64
	Attempt int
	State   State // where the job goes: Succeeded, Failed, Scheduled, Enqueued, Deleted
	Outcome Outcome
	Cause   Cause         // for Scheduled
	Delay   time.Duration // for Scheduled, from the database's clock at the settle

	Retry, Snoozes, Losses int // the counters from here on

	Latency, Duration time.Duration // of this attempt
	Worker            int
	Reason            string // of the row of State
	Data              string // JSON of that row: error, error_type, stack, rule, result
	FailedReason      string // set: a failed history row comes first, at the same instant
	FailedData        string
	ErrorType         string // of the failed hot row
	ErrorLine         string
	Fingerprint       int64
}

// The counters of a job are what the decision made of them; queue, kind and
// priority come from the row. A row that somebody else took meanwhile is waited
// for, and then is not there: what the attempt would have written is kept as late.
// A row that was updated meanwhile (stuck, cancel requested) is locked in its newest
// version, whose ctid the statement's snapshot does not see: it goes by its id.
// The key share lock makes retention wait, or a late row could outlive its job.
//
// Plain successes ($22 on) take fewer columns; their counters stay as they are.
var settleHead = `input as materialized (
select u.* from (
select i.* from unnest($2::bigint[], $3::integer[], $4::smallint[], $5::smallint[], $6::smallint[], $7::bigint[],
  $8::integer[], $9::integer[], $10::smallint[], $11::bigint[], $12::bigint[], $13::smallint[], $14::integer[],
  $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::bigint[])
as i(job_id, attempt, state, outcome, cause, delay_us, retry, snoozes, losses, latency_us, duration_us, bucket, worker,
  reason, data, failed_reason, failed_data, error_type, error_line, fingerprint)
union all
select p.job_id, p.attempt, 4::smallint, 1::smallint, 0::smallint, 0::bigint, null::integer, null::integer, null::smallint,
  p.latency_us, p.duration_us, p.bucket, p.worker, '', '', '', '', '', '', 0::bigint
from unnest($22::bigint[], $23::integer[], $24::bigint[], $25::bigint[], $26::smallint[], $27::integer[])
as p(job_id, attempt, latency_us, duration_us, bucket, worker)
) u order by u.job_id, u.attempt
), held as materialized (
select i.job_id, i.attempt, i.state, i.outcome, i.cause, i.delay_us, i.latency_us, i.duration_us, i.bucket, i.worker,
  i.reason, i.data, i.failed_reason, i.failed_data, i.error_type, i.error_line, i.fingerprint,
  coalesce(i.retry, r.retry) as retry, coalesce(i.snoozes, r.snoozes) as snoozes, coalesce(i.losses, r.losses) as losses, r.tid, r.queue, r.kind, r.priority, r.updated, r.cancel_at, r.cancel_by, r.cancel_at is not null and i.state <> 4 as cancelled,
  clock_timestamp() as at, u.open
from input i left join lateral (
  select running.ctid as tid, queue, kind, priority, retry, snoozes, losses, cancel_requested_at as cancel_at, cancel_requested_by as cancel_by,
    coalesce(cancel_requested_at, stuck_at) is not null as updated
  from tekrar.running
  where running.job_id = i.job_id and running.attempt = i.attempt and running.server = $1 for update) r on true
` + openEffect + `
), gone as (
delete from tekrar.running where ctid = any(array(select tid from held where not updated))
), gone_updated as (
delete from tekrar.running where job_id = any(array(select job_id from held where updated))
), late as (
insert into tekrar.history (job_id, at, server, latency_us, duration_us, attempt, worker, state, queue, kind, reason, data)
select h.job_id, h.at, $1, h.latency_us, h.duration_us, h.attempt, h.worker, 7, j.queue, j.kind,
  'Too late: the job had been taken from this attempt',
  coalesce(nullif(h.failed_data, ''), nullif(h.data, ''), '{}')::jsonb || jsonb_build_object('would_be', h.state)
from held h cross join lateral (select queue, kind from tekrar.jobs where id = h.job_id offset 0 for key share) j where h.tid is null
returning job_id, attempt
), ` + moved("(select * from held where tid is not null)", map[string]string{
	"at":          "s.at",
	"run_at":      "case when s.state = 1 then s.at + s.delay_us * interval '1 microsecond' end",
	"server":      "$1",
	"latency_us":  "s.latency_us",
	"duration_us": "s.duration_us",
	"fingerprint": "s.fingerprint",
	"worker":      "s.worker",
	"cause":       "s.cause",
	"state":       "case when s.cancelled then 6::smallint when s.open is null then s.state else 5::smallint end",
	"outcome":     "case when s.cancelled then 9::smallint when s.open is null then s.outcome else 4::smallint end",
	"bucket":      "s.bucket",
	"reason": "case when s.cancelled then " + cancelReason +
		" when s.open is null then nullif(s.reason, '') else 'An error occurred during attempt ' || s.attempt end",
	"data":          "case when s.cancel_at is null then " + settleData + " else coalesce(" + settleData + ", '{}') || " + cancelAsked + " end",
	"failed_reason": "case when not s.cancelled then nullif(s.failed_reason, '') end",
	"failed_data":   "case when not s.cancelled then nullif(s.failed_data, '')::jsonb end",
	"error_type":    "case when s.open is null then s.error_type else '" + openEffectType + "' end",
	"error_line":    "coalesce(s.open, s.error_line)",
})

const settleData = "case when s.cancelled then coalesce(nullif(s.failed_data, ''), nullif(s.data, ''), '{}')::jsonb || " + cancelRule +
	" when s.open is not null then jsonb_build_object('error', s.open, 'error_type', '" + openEffectType + "', 'rule', '" + openEffectType + "')" +
	" when s.state = 1 then coalesce(nullif(s.data, ''), '{}')::jsonb || jsonb_build_object('run_at', s.at + s.delay_us * interval '1 microsecond')" +
	" else nullif(s.data, '')::jsonb end"

var settleStatement = transition(settleHead, toReady|toScheduled|toFailed|viaFailed|counted,
	`select job_id, attempt from late`)

// Token names one attempt of a job; with its server it is the fence.
type Token struct {
	ID      int64
	Attempt int
}

// Settle writes a batch of outcomes in one statement and returns the tokens that
// no longer held their job: those changed nothing and are kept as late rows. Of
// several outcomes of one token the first counts.
func (db *DB) Settle(ctx context.Context, server int64, batch []Settled) (refused []Token, err error) {
	text, args := db.sql(settleStatement), settleArgs(server, inOrder(batch))
	err = db.settlers().with(ctx, func(s *session) error {
		return s.query(ctx, text, scanTokens(&refused), args...)
	})
	if err != nil {
		return nil, fmt.Errorf("settle %d jobs: %w", len(batch), err)
	}
	return refused, nil
}

// inOrder sorts by token and keeps one outcome of each: rows are locked in the
// order in which deletions lock them, so that the two don't deadlock.
func inOrder(batch []Settled) []Settled {
	sorted := slices.Clone(batch)
	slices.SortStableFunc(sorted, func(a, b Settled) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Attempt, b.Attempt))
	})
	return slices.CompactFunc(sorted, func(a, b Settled) bool { return a.ID == b.ID && a.Attempt == b.Attempt })
}

func settleArgs(server int64, batch []Settled) []any {
	plain, other := splitPlain(batch)
	ints := func(of []*Settled, f func(*Settled) int64) any {
		a := make([]int64, len(of))
		for i, s := range of {
			a[i] = f(s)
		}
		return pq.Array(a)
	}
	texts := func(f func(*Settled) string) any {
		a := make([]string, len(other))
		for i, s := range other {
			a[i] = f(s)
		}
		return pq.Array(a)
	}
	id := func(s *Settled) int64 { return s.ID }
	attempt := func(s *Settled) int64 { return int64(s.Attempt) }
	latency := func(s *Settled) int64 { return s.Latency.Microseconds() }
	duration := func(s *Settled) int64 { return s.Duration.Microseconds() }
	bucket := func(s *Settled) int64 { return int64(Bucket(s.Duration)) }
	worker := func(s *Settled) int64 { return int64(s.Worker) }
	return []any{server,
		ints(other, id),
		ints(other, attempt),
		ints(other, func(s *Settled) int64 { return int64(s.State) }),
		ints(other, func(s *Settled) int64 { return int64(s.Outcome) }),
		ints(other, func(s *Settled) int64 { return int64(s.Cause) }),
		ints(other, func(s *Settled) int64 { return s.Delay.Microseconds() }),
		ints(other, func(s *Settled) int64 { return int64(s.Retry) }),
		ints(other, func(s *Settled) int64 { return int64(s.Snoozes) }),
		ints(other, func(s *Settled) int64 { return int64(s.Losses) }),
		ints(other, latency), ints(other, duration), ints(other, bucket), ints(other, worker),
		texts(func(s *Settled) string { return s.Reason }),
		texts(func(s *Settled) string { return s.Data }),
		texts(func(s *Settled) string { return s.FailedReason }),
		texts(func(s *Settled) string { return s.FailedData }),
		texts(func(s *Settled) string { return s.ErrorType }),
		texts(func(s *Settled) string { return s.ErrorLine }),
		ints(other, func(s *Settled) int64 { return s.Fingerprint }),
		ints(plain, id), ints(plain, attempt), ints(plain, latency), ints(plain, duration), ints(plain, bucket), ints(plain, worker),
	}
}

// splitPlain sets apart the successes without a result or a text: of those, few
// columns have to be sent, and most outcomes are such.
func splitPlain(batch []Settled) (plain, other []*Settled) {
	for i := range batch {
		s := &batch[i]
		if s.State == Succeeded && s.Outcome == OutcomeSucceeded && s.Reason == "" && s.Data == "" && s.FailedReason == "" {
			plain = append(plain, s)
		} else {
			other = append(other, s)
		}
	}
	return plain, other
}

// askStatement: is the running row still there? If not, did this attempt settle
// it? Only settles name a worker; a claim's and a reclaim's row do not.
const askStatement = `select t.job_id, t.attempt,
  exists (select 1 from tekrar.running r where r.job_id = t.job_id and r.attempt = t.attempt and r.server = $1),
  exists (select 1 from tekrar.history h where h.job_id = t.job_id and h.attempt = t.attempt and h.server = $1 and h.worker is not null)
from unnest($2::bigint[], $3::integer[]) as t(job_id, attempt)`

func scanTokens(to *[]Token) func(*sql.Rows) error {
	return func(r *sql.Rows) error {
		var t Token
		err := r.Scan(&t.ID, &t.Attempt)
		*to = append(*to, t)
		return err
	}
}

// Unsettled sorts tokens whose settle had no answer: open ones still hold their
// job and can be settled again; the others are done, or lost (no row of theirs
// but the claim's), and settling a lost one again keeps it as late.
func (db *DB) Unsettled(ctx context.Context, server int64, tokens []Token) (done map[Token]bool, err error) {
	ids, attempts := make([]int64, len(tokens)), make([]int64, len(tokens))
	for i, t := range tokens {
		ids[i], attempts[i] = t.ID, int64(t.Attempt)
	}
	done = map[Token]bool{}
	text := db.sql(askStatement)
	err = db.settlers().with(ctx, func(s *session) error {
		return s.query(ctx, text, func(r *sql.Rows) error {
			var t Token
			var open, settled bool
			if err := r.Scan(&t.ID, &t.Attempt, &open, &settled); err != nil {
				return err
			}
			done[t] = !open && settled
			return nil
		}, server, pq.Array(ids), pq.Array(attempts))
	})
	if err != nil {
		return nil, fmt.Errorf("ask for the outcome of a settle: %w", err)
	}
	return done, nil
}
