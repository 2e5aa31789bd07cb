package store

import (
	"context"
	"math"
	"time"
)

// ended is the span of time in which the jobs ended that the query can hold: from
// included, to not; zero is no limit. Ages have none without an asOf: only the
// database knows its now.
func (q Query) ended(asOf time.Time) (from, to time.Time) {
	for _, t := range q.terms {
		if t.field == nil || t.field.name != "finished" || t.not {
			continue
		}
		low, high := t.value.from, t.value.to
		if t.value.age != 0 && !asOf.IsZero() {
			low, high = asOf.Add(-t.value.age), time.Time{}
			if t.op == less {
				low, high = high, low
			}
		}
		if low.After(from) {
			from = low
		}
		if !high.IsZero() && (to.IsZero() || high.Before(to)) {
			to = high
		}
	}
	return from, to
}

// A history row gets its id and its time within one statement, so the order of ids
// is that of times but for what a statement may take (30 s) and clocks may jump.
const idsBehind = time.Minute

// oldEnough is how many rows one after the other must be older than that.
const oldEnough = 100

// spanOf is the part of a newest-first list that a query can hold: where to begin,
// and the time before which nothing more comes. A list of finished jobs is sorted by
// history id, which is only nearly the order of time.
func (db *DB) spanOf(ctx context.Context, f JobFilter, at place) (begin place, until time.Time, err error) {
	if !newestFirst(f.State) {
		return at, until, nil
	}
	from, to := f.Query.ended(f.AsOf)
	if f.State == Failed {
		if !to.IsZero() && at.at.After(to) {
			at = place{to, math.MaxInt64}
		}
		return at, from, nil
	}
	if !from.IsZero() {
		until = from.Add(-idsBehind)
	}
	if !to.IsZero() {
		at.id, err = db.idBefore(ctx, f, at.id, to.Add(idsBehind))
	}
	return at, until, err
}

// near is how many ids are not worth another probe.
const near = 250

// idBefore looks for a history id at or below id from which on a list of finished
// jobs is older than a time, by halves.
func (db *DB) idBefore(ctx context.Context, f JobFilter, id int64, end time.Time) (int64, error) {
	f.Query = Query{}
	low, high := int64(0), id
	for probe := high; high-low > near; probe = low + (high-low)/2 {
		found, err := db.candidates(ctx, f, place{id: probe}, 1)
		if err != nil {
			return id, err
		}
		older := len(found) == 0 || found[0].At.Before(end)
		switch {
		case older && probe == id:
			return id, nil
		case older:
			low = probe
		default:
			high = found[0].HistoryID
		}
	}
	return high, nil
}
