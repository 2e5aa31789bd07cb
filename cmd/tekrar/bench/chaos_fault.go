//go:build linux || darwin

package bench

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"

	"github.com/tekrar/tekrar/store/pgtemp"
)

// faults does harm at random and undoes it. One worker is spared at any time, by
// turns: the time in which jobs are reclaimed is promised for a fleet in which
// somebody is well.
type faults struct {
	rnd     *rand.Rand
	server  *pgtemp.Server
	workers []*worker
	load    *link
	crashes float64 // of the database, a minute

	spared, heir *worker
	turn         time.Time // when the next heir is chosen
	ends         map[*worker]heal
	loadEnds     time.Time
	nextFault    time.Time
	nextCrash    time.Time
	outages      []span
	counts       map[string]int
	log          *slog.Logger
}

// heal ends a fault; ready says whether it can be ended already.
type heal struct {
	at    time.Time
	ready func() bool
	do    func() error
}

// recovery is how long a server may need until it sweeps again after its way to
// Postgres was cut: the wait between tries grows to 5 s, then it gives the others a
// lease's time to renew theirs.
const recovery = longestTry + chaosLease + chaosSweep

type fault struct {
	name   string
	weight int
	least  time.Duration
	most   time.Duration
	do     func(*worker) (undo func() error)
}

func again(w *worker) func() error { return w.start }

func under(w weather) func(*worker) func() error {
	return func(v *worker) func() error {
		v.link.set(w)
		return func() error { v.link.set(fair); return nil }
	}
}

var faultKinds = []fault{
	{"kills", 4, 0, 1500 * time.Millisecond, func(w *worker) func() error { w.kill(); return again(w) }},
	{"freezes", 4, 200 * time.Millisecond, 5 * time.Second, func(w *worker) func() error {
		w.signal(syscall.SIGSTOP)
		return func() error { w.signal(syscall.SIGCONT); return nil }
	}},
	{"terminations", 2, 0, 500 * time.Millisecond, func(w *worker) func() error { w.signal(syscall.SIGTERM); return again(w) }},
	{"cuts", 2, 200 * time.Millisecond, 5 * time.Second, under(cut)},
	{"stalls", 2, 200 * time.Millisecond, 12 * time.Second, under(stall)},
	{"delays", 1, time.Second, 4 * time.Second, under(slow)},
	{"lost_answers", 2, time.Second, 5 * time.Second, under(lossy)},
	{"half_closes", 1, 500 * time.Millisecond, 4 * time.Second, under(halved)},
	// The machine is gone, and Postgres does not hear of it: its sessions stay.
	{"vanishings", 2, time.Second, 5 * time.Second, func(w *worker) func() error {
		w.link.set(stall)
		w.kill()
		return func() error {
			w.link.set(cut)
			w.link.set(fair)
			return w.start()
		}
	}},
}

// run does harm until ctx ends, then undoes all of it.
func (f *faults) run(ctx context.Context) error {
	f.ends, f.counts = map[*worker]heal{}, map[string]int{}
	f.spared = f.workers[0]
	began := time.Now()
	f.turn, f.nextFault = began.Add(f.between(3, 6)), began.Add(f.between(1, 2))
	f.nextCrash = f.crashAfter(began)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		now := time.Now()
		if err := f.undo(now); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return f.undoAll()
		case <-tick.C:
		}
		f.takeTurns(now)
		if now.After(f.nextFault) {
			f.harm(now)
			f.nextFault = now.Add(f.between(.3, .9))
		}
		if f.crashes > 0 && now.After(f.nextCrash) {
			if err := f.crash(ctx); err != nil {
				return err
			}
			f.nextCrash = f.crashAfter(time.Now())
		}
	}
}

func (f *faults) between(low, high float64) time.Duration {
	return time.Duration((low + f.rnd.Float64()*(high-low)) * float64(time.Second))
}

func (f *faults) crashAfter(t time.Time) time.Time {
	if f.crashes <= 0 {
		return t
	}
	return t.Add(f.between(20/f.crashes, 50/f.crashes))
}

// harm starts one fault on a worker that is well, or bad weather for the load.
func (f *faults) harm(now time.Time) {
	total := 0
	for _, k := range faultKinds {
		total += k.weight
	}
	draw, lasts, who := f.rnd.IntN(total), f.rnd.Float64(), f.rnd.Float64()
	if draw2 := f.rnd.IntN(8); draw2 == 0 && f.loadEnds.IsZero() {
		f.load.set([]weather{cut, stall, slow, lossy, halved}[f.rnd.IntN(5)])
		f.loadEnds = now.Add(f.between(.2, 3))
		f.counts["load_faults"]++
		return
	}
	var well []*worker
	for _, w := range f.workers {
		if _, harmed := f.ends[w]; !harmed && w != f.spared && w != f.heir {
			well = append(well, w)
		}
	}
	if len(well) == 0 {
		return
	}
	i := slices.IndexFunc(faultKinds, func(k fault) bool { draw -= k.weight; return draw < 0 })
	k, w := faultKinds[i], well[int(who*float64(len(well)))]
	f.counts[k.name]++
	f.log.Info("CHAOS "+k.name, "worker", w.name)
	undo := k.do(w)
	ready := func() bool { return true }
	if k.name == "terminations" {
		ready = func() bool {
			select {
			case <-w.end():
				return true
			default:
				return false
			}
		}
	}
	f.ends[w] = heal{at: now.Add(k.least + time.Duration(lasts*float64(k.most-k.least))), ready: ready, do: undo}
}

func (f *faults) undo(now time.Time) error {
	if !f.loadEnds.IsZero() && now.After(f.loadEnds) {
		f.load.set(fair)
		f.loadEnds = time.Time{}
	}
	for _, w := range f.workers {
		h, harmed := f.ends[w]
		switch {
		case harmed && now.After(h.at) && h.ready():
			if err := h.do(); err != nil {
				return err
			}
			delete(f.ends, w)
			f.log.Info("CHAOS healed", "worker", w.name)
			w.healthy = now
		case !harmed:
			exits := w.exits
			if err := w.restartExited(); err != nil {
				return err
			}
			if w.exits > exits {
				f.log.Info("CHAOS process ended itself", "worker", w.name)
			}
		}
	}
	return nil
}

// takeTurns spares another worker once it has been well for long enough.
func (f *faults) takeTurns(now time.Time) {
	if f.heir == nil && now.After(f.turn) {
		others := slices.DeleteFunc(slices.Clone(f.workers), func(w *worker) bool { return w == f.spared })
		f.heir = others[f.rnd.IntN(len(others))]
	}
	if f.heir == nil {
		return
	}
	if _, harmed := f.ends[f.heir]; !harmed && now.Sub(f.heir.healthy) > recovery {
		f.spared, f.heir = f.heir, nil
		f.log.Info("CHAOS spares", "worker", f.spared.name)
		f.turn = now.Add(f.between(3, 6))
	}
}

// crash ends the database as a power cut would and brings it back.
func (f *faults) crash(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	from := time.Now()
	err := f.server.Crash(ctx)
	if err == nil {
		err = f.server.Restart(ctx)
	}
	f.outages = append(f.outages, span{from, time.Now()})
	f.counts["db_crashes"]++
	f.log.Info("CHAOS database crashed", "back_after", time.Since(from))
	return err
}

func (f *faults) undoAll() error {
	f.load.set(fair)
	f.loadEnds = time.Time{}
	for len(f.ends) > 0 {
		for w, h := range f.ends {
			h.at = time.Time{}
			f.ends[w] = h
		}
		if err := f.undo(time.Now()); err != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}
