package jobs

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tekrar/tekrar/store"
)

const (
	// maxClaim bounds one claim: more jobs a statement is not faster.
	maxClaim = 500
	// aheadFor bounds the buffer to what the slots finish in this time at the
	// present rate, so that a claimed job is never kept from an idle server.
	aheadFor = 20 * time.Millisecond
	maxAhead = maxClaim
	// claimGrace is how long a stop waits for the answer of a claim that is on
	// its way: without it nobody knows which jobs it took.
	claimGrace = 2 * time.Second
)

// claimer takes jobs for the free slots of this process.
type claimer struct {
	e      *engine
	woken  signal
	queues []string
	units  []*unit

	cursor map[lane]time.Time
	turn   int
	pace   pace // of jobs that finish
	looks  sync.WaitGroup

	unsure    bool               // a claim had no answer: it may have taken jobs that nobody here knows of
	looked    time.Time          // for such jobs
	comparing chan []store.Token // the look on its way; nil: none
	suspects  []store.Token      // what it found last
}

type lane struct {
	queue    string
	priority int16
}

func newClaimer(e *engine) *claimer {
	queues := e.c.served()
	return &claimer{e: e, looked: time.Now(), woken: newSignal(), cursor: map[lane]time.Time{}, queues: sortedKeys(queues), units: e.c.units(queues)}
}

func (k *claimer) queueNames() []string { return k.queues }

// wake makes the claimer look now.
func (k *claimer) wake() { k.woken.send() }

func (k *claimer) run(ctx context.Context) {
	if len(k.units) == 0 {
		<-ctx.Done()
		return
	}
	defer k.looks.Wait()
	claims, cancel := lingering(ctx, claimGrace)
	defer cancel()
	trouble := &incident{log: k.e.log, what: "claim"}
	for ctx.Err() == nil {
		wait, err := k.round(claims)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if !sleep(ctx, trouble.failed(err), nil) {
				return
			}
		default:
			trouble.ok()
			if wait > 0 && !(sleep(ctx, wait, k.woken) && sleep(ctx, k.rest(), nil)) {
				return
			}
		}
	}
}

// round claims once for each unit and says how long to wait for a signal before
// the next round; 0: some lane may hold more, and there is room. Units take
// turns, and so do the queues of one, so that none starves the others.
func (k *claimer) round(ctx context.Context) (wait time.Duration, err error) {
	if k.compare(ctx); k.unsure {
		if err := k.adopt(ctx); err != nil {
			return 0, err
		}
	}
	wait = k.e.poll()
	// Set before the room is counted: a run that ends after that wakes the claimer.
	k.e.held.hunger.Store(true)
	starved := false
	k.turn++
	for i := range k.units {
		u := k.units[(i+k.turn)%len(k.units)]
		room := min(k.room(), maxClaim)
		if u.slots > 0 {
			room = min(room, u.slots-k.e.held.ofQueue(u.queues[0]))
		}
		if room <= 0 {
			starved = true
			continue
		}
		full := k.full(ctx, u)
		began := time.Now()
		claimed, err := k.claim(ctx, u, k.lanes(u, full), room)
		if err != nil {
			k.unsure = true
			return 0, err
		}
		if full {
			u.scanned(began, time.Since(began), false)
			if u.fullTook >= k.e.c.scans.slow && !u.blind { // look now: lanes that have no cursor yet are walked by each claim
				u.lastFull = time.Time{}
			}
		}
		if k.take(claimed); len(u.limits) == 0 {
			k.advance(claimed)
		}
		switch {
		case len(claimed) >= room:
			wait = 0
		case !full && u.looking == nil: // the cursors may hide something; a look wakes us
			wait = min(wait, max(0, time.Until(u.nextFull())))
		}
	}
	if wait == 0 && k.e.held.full(k.ahead()) {
		wait, starved = k.e.poll(), true
	}
	if !starved {
		k.e.held.hunger.Store(false)
	}
	return wait, nil
}

func (k *claimer) claim(ctx context.Context, u *unit, lanes []store.Lane, room int) ([]store.Claimed, error) {
	if len(u.limits) > 0 {
		return k.e.db.ClaimLimited(ctx, k.e.server.Load(), u.limits, lanes, u.kinds, room)
	}
	return k.e.db.Claim(ctx, k.e.server.Load(), lanes, u.kinds, room)
}

// lanes lists the most urgent priority of all queues first, from the cursors unless full.
func (k *claimer) lanes(u *unit, full bool) []store.Lane {
	turned := k.turn % len(u.queues)
	lanes := lanesOf(slices.Concat(u.queues[turned:], u.queues[:turned]))
	for i := range lanes {
		l := &lanes[i]
		if at, ok := k.cursor[lane{l.Queue, l.Priority}]; ok && !full {
			l.After = at.Add(-cursorLag)
		}
	}
	return lanes
}

// rest is how long the next claim waits for more jobs. Where a queue has slots of its own
// or a limit holds, no buffer bridges that time.
func (k *claimer) rest() time.Duration {
	if slices.ContainsFunc(k.units, func(u *unit) bool { return u.slots > 0 || len(u.limits) > 0 }) {
		return 0
	}
	return k.pace.rest(claimGap)
}

// room is free slots plus the buffer that the present rate allows.
func (k *claimer) room() int {
	room, finished := k.e.held.room(k.ahead())
	k.pace.saw(finished)
	return room
}

func (k *claimer) ahead() int {
	return min(maxAhead, int(k.pace.rate*aheadFor.Seconds()))
}

// take hands claimed jobs to the slots in the order in which they are due.
func (k *claimer) take(claimed []store.Claimed) {
	slices.SortFunc(claimed, func(a, b store.Claimed) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.ReadyAt.Compare(b.ReadyAt), cmp.Compare(a.ID, b.ID))
	})
	server := k.e.server.Load()
	for _, c := range claimed {
		k.e.begin(c, server)
	}
}

// advance moves the cursors to what was claimed last. What a unit with limits claims says
// nothing about the other kinds of its lanes.
func (k *claimer) advance(claimed []store.Claimed) {
	for i := range claimed {
		c := &claimed[i]
		at := lane{c.Queue, int16(c.Priority)}
		if c.ReadyAt.After(k.cursor[at]) {
			k.cursor[at] = c.ReadyAt
		}
	}
}
