package jobs

import (
	"context"
	"time"

	"github.com/tekrar/tekrar/store"
)

const (
	// slowScan is how long a claim from the start of each lane may take. A longer one,
	// with hundreds of thousands of dead rows before the first job that waits, would
	// keep jobs waiting that are due now, so the start is looked for beside the claims.
	slowScan = 30 * time.Millisecond
	// cursorLag is how far behind the newest claimed ready_at a claim under load
	// looks: rows of transactions that commit a little later lie there.
	cursorLag = 100 * time.Millisecond
	// fullScanShare: a scan from the start of each lane is made whenever ten
	// times its own duration has passed. It finds what committed late; rarely
	// enough that walking dead entries under an old snapshot does not pile up.
	fullScanShare = 10
	// lookShare is the same for looks beside the claims: twice as rare, since they come
	// on top of what claims do.
	lookShare = 2 * fullScanShare
	// maxFullRest bounds that pause: one claim that hung for half a minute must not
	// hide what commits late for five.
	maxFullRest = 2 * time.Second
	// lookPatience ends a look; a claim from the start comes next, which finds all.
	lookPatience = 10 * time.Second
)

// scans says when looks are made beside the claims.
type scans struct {
	slow  time.Duration // a scan that took so long is not made by a claim again
	every time.Duration // between looks for jobs that this server holds and does not know of
	pause func()        // tests stop here before a look
}

// front is the answer of a look beside the claims.
type front struct {
	lanes []store.Lane
	began time.Time
	ended time.Time
	err   error
}

func (u *unit) nextFull() time.Time {
	share := time.Duration(fullScanShare)
	if u.beside {
		share = lookShare
	}
	return u.lastFull.Add(min(share*u.fullTook, maxFullRest))
}

// full says whether the claim that comes now scans from the start of each lane. Where
// that would take long, a look beside it is begun instead, and what the one before it
// found moves the cursors: back to what committed late, or on, past rows that others took.
func (k *claimer) full(ctx context.Context, u *unit) bool {
	if len(u.limits) > 0 { // the cursors are those of all kinds: jobs of a limited kind wait behind them
		return true
	}
	if u.looking != nil {
		select {
		case f := <-u.looking:
			u.looking = nil
			k.found(u, f)
		default:
			return false
		}
	}
	if time.Now().Before(u.nextFull()) {
		return false
	}
	if u.fullTook < k.e.c.scans.slow {
		return true
	}
	u.looking = make(chan front, 1)
	k.looks.Go(func() {
		if k.e.c.scans.pause != nil {
			k.e.c.scans.pause()
		}
		ctx, cancel := context.WithTimeout(ctx, lookPatience)
		defer cancel()
		f := front{began: time.Now()}
		f.lanes, f.err = k.e.db.ClaimFront(ctx, lanesOf(u.queues), u.kinds)
		f.ended = time.Now()
		u.looking <- f
		k.wake()
	})
	return false
}

func (k *claimer) found(u *unit, f front) {
	u.scanned(f.began, f.ended.Sub(f.began), true)
	if u.blind = f.err != nil; u.blind { // the next one is a claim, which says what is wrong
		u.scanned(time.Time{}, 0, false)
	}
	if time.Since(f.ended) > maxFullRest { // there was no room for so long: much is claimed from there on
		return
	}
	for _, l := range f.lanes {
		k.cursor[lane{l.Queue, l.Priority}] = l.After
	}
}

// scanned notes a scan from the start of the unit's lanes, by a claim or beside it.
func (u *unit) scanned(began time.Time, took time.Duration, beside bool) {
	u.lastFull, u.fullTook, u.beside = began, took, beside
}

func lanesOf(queues []string) (lanes []store.Lane) {
	for _, p := range store.Priorities {
		for _, q := range queues {
			lanes = append(lanes, store.Lane{Queue: q, Priority: p})
		}
	}
	return lanes
}
