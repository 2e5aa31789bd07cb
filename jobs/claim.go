package jobs

import (
	"cmp"
	"context"
	"slices"
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
	// cursorLag is how far behind the newest claimed ready_at a claim under load
	// looks: rows of transactions that commit a little later lie there.
	cursorLag = 100 * time.Millisecond
	// fullScanShare: a scan from the start of each lane is made whenever ten
	// times its own duration has passed. It finds what committed late; rarely
	// enough that walking dead entries under an old snapshot does not pile up.
	fullScanShare = 10
	// maxFullRest bounds that pause: one claim that hung for half a minute must not
	// hide what commits late for five.
	maxFullRest = 2 * time.Second
	// claimGrace is how long a stop waits for the answer of a claim that is on
	// its way: without it nobody knows which jobs it took.
	claimGrace = 2 * time.Second
	// lookEvery is how often a server compares what it holds with what it knows.
	lookEvery = 30 * time.Second
)

// claimer takes jobs for the free slots of this process.
type claimer struct {
	e      *engine
	woken  signal
	queues []string
	units  []*unit

	cursor map[lane]time.Time
	turn   int
	rate   float64 // finished a second, smoothed
	asked  time.Time
	looked time.Time
	unsure bool // a claim had no answer: it may have taken jobs that nobody here knows of
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
			if wait > 0 && !sleep(ctx, wait, k.woken) {
				return
			}
		}
	}
}

// round claims once for each unit and says how long to wait for a signal before
// the next round; 0: some lane may hold more, and there is room. Units take
// turns, and so do the queues of one, so that none starves the others.
func (k *claimer) round(ctx context.Context) (wait time.Duration, err error) {
	// A claim that was cut off can commit after the look that followed it: one more
	// look now and then finds what nobody here knows of.
	if k.unsure = k.unsure || time.Since(k.looked) > lookEvery; k.unsure {
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
		lanes, full := k.lanes(u)
		began := time.Now()
		claimed, err := k.claim(ctx, u, lanes, room)
		if err != nil {
			k.unsure = true
			return 0, err
		}
		if full {
			u.lastFull, u.fullTook = began, time.Since(began)
		}
		k.take(claimed)
		switch {
		case len(claimed) >= room:
			wait = 0
		case !full: // the cursors may hide something
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

// lanes lists the most urgent priority of all queues first.
func (k *claimer) lanes(u *unit) (lanes []store.Lane, full bool) {
	// The cursors are those of all kinds: jobs of a limited kind wait behind them.
	full = len(u.limits) > 0 || !time.Now().Before(u.nextFull())
	for _, p := range store.Priorities {
		for i := range u.queues {
			q := u.queues[(i+k.turn)%len(u.queues)]
			l := store.Lane{Queue: q, Priority: p}
			if at, ok := k.cursor[lane{q, p}]; ok && !full {
				l.After = at.Add(-cursorLag)
			}
			lanes = append(lanes, l)
		}
	}
	return lanes, full
}

// room is free slots plus the buffer that the present rate allows, less what
// waits to be settled beyond a bound.
func (k *claimer) room() int {
	room, finished := k.e.held.room(k.ahead())
	now := time.Now()
	if gap := now.Sub(k.asked).Seconds(); gap > 0 && !k.asked.IsZero() {
		share := min(1, gap/0.2)
		k.rate += share * (float64(finished)/gap - k.rate)
	}
	k.asked = now
	return room
}

func (k *claimer) ahead() int {
	return min(maxAhead, int(k.rate*aheadFor.Seconds()))
}

// take hands claimed jobs to the slots in the order in which they are due.
func (k *claimer) take(claimed []store.Claimed) {
	slices.SortFunc(claimed, func(a, b store.Claimed) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.ReadyAt.Compare(b.ReadyAt), cmp.Compare(a.ID, b.ID))
	})
	server := k.e.server.Load()
	for i := range claimed {
		c := &claimed[i]
		at := lane{c.Queue, int16(c.Priority)}
		if c.ReadyAt.After(k.cursor[at]) {
			k.cursor[at] = c.ReadyAt
		}
		k.e.begin(*c, server)
	}
}

// adopt starts jobs that a claim took although its answer was lost. No claim is
// made before: jobs that are never asked for stay in processing as long as this
// server lives.
func (k *claimer) adopt(ctx context.Context) error {
	found, err := k.unknown(ctx)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		k.e.log.Info("adopted jobs of a claim whose answer was lost", "jobs", len(found))
	}
	k.take(found)
	return nil
}

// unknown lists the jobs that this server holds and has not heard of, if a claim
// had no answer. Attempts count, not jobs: the claim may have taken a job of
// which an earlier attempt still waits for the answer of its settle.
func (k *claimer) unknown(ctx context.Context) ([]store.Claimed, error) {
	if !k.unsure {
		return nil, nil
	}
	known := map[store.Token]bool{}
	for _, t := range append(k.e.held.all(), k.e.settler.tokens()...) {
		known[t] = true
	}
	held, err := k.e.db.Held(ctx, k.e.server.Load(), []int64{})
	if err != nil {
		return nil, err
	}
	k.unsure, k.looked = false, time.Now()
	return slices.DeleteFunc(held, func(c store.Claimed) bool { return known[store.Token{ID: c.ID, Attempt: c.Attempt}] }), nil
}
