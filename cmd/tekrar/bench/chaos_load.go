package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// load enqueues steadily, in every way there is, and writes down what it was told.
type load struct {
	db     *store.DB // through a link, which fails as well
	client *jobs.Client
	*ledger
	spare bool // no job ends its process
}

// run enqueues until ctx ends.
func (l *load) run(ctx context.Context, seed uint64) {
	var all sync.WaitGroup
	for i, one := range []struct {
		every   time.Duration
		enqueue func(context.Context, *rand.Rand)
	}{
		{15 * time.Millisecond, l.single}, {250 * time.Millisecond, l.bulk}, {60 * time.Millisecond, l.inTx},
		{50 * time.Millisecond, l.delayed}, {40 * time.Millisecond, l.unique},
	} {
		rnd := rand.New(rand.NewPCG(seed, uint64(i)))
		all.Go(func() {
			tick := time.NewTicker(one.every)
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
					one.enqueue(context.WithoutCancel(ctx), rnd) // each call has its answer, or none
				}
			}
		})
	}
	all.Wait()
}

// patience bounds a call of the load.
const patience = 5 * time.Second

func (l *load) single(ctx context.Context, rnd *rand.Rand) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	n, job := l.job(rnd)
	r, err := l.client.Enqueue(ctx, job)
	l.answer(n, r, err)
}

func (l *load) delayed(ctx context.Context, rnd *rand.Rand) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	n, job := l.job(rnd)
	r, err := l.client.Enqueue(ctx, job, jobs.In(time.Duration(rnd.IntN(2000))*time.Millisecond))
	l.answer(n, r, err)
}

func (l *load) unique(ctx context.Context, rnd *rand.Rand) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	n := l.next()
	key := fmt.Sprint("key-", rnd.IntN(40))
	l.holds(n, key)
	r, err := l.client.Enqueue(ctx, plainScript{script{N: n, MS: rnd.IntN(400)}}, jobs.Unique(key, jobs.UntilFinished))
	l.answer(n, r, err)
}

func (l *load) bulk(ctx context.Context, rnd *rand.Rand) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	numbers, items := l.jobs(rnd, 1+rnd.IntN(30))
	results, err := l.client.EnqueueMany(ctx, items)
	for i, n := range numbers {
		if err != nil {
			l.doubt(n)
		} else {
			l.promise(n, results[i].ID, results[i].Duplicate)
		}
	}
}

var errRollback = errors.New("rolled back on purpose")

// inTx enqueues in a transaction of its own; every third is rolled back. Only an
// unknown outcome leaves a doubt.
func (l *load) inTx(ctx context.Context, rnd *rand.Rand) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	numbers, items := l.jobs(rnd, 1+rnd.IntN(3))
	back := rnd.IntN(3) == 0
	var results []jobs.EnqueueResult
	err := l.db.Tx(ctx, func(tx *sqlx.Tx) (err error) {
		if results, err = l.client.EnqueueManyTx(ctx, tx, items); err == nil && back {
			err = errRollback
		}
		return err
	})
	for i, n := range numbers {
		switch {
		case err == nil:
			l.promise(n, results[i].ID, results[i].Duplicate)
		case errors.Is(err, store.ErrUnknownOutcome):
			l.doubt(n)
		default:
			l.refuse(n)
		}
	}
}

func (l *load) answer(n int64, r jobs.EnqueueResult, err error) {
	if err != nil {
		l.doubt(n)
		return
	}
	l.promise(n, r.ID, r.Duplicate)
}

func (l *load) jobs(rnd *rand.Rand, count int) (numbers []int64, items []jobs.Item) {
	for range count {
		n, job := l.job(rnd)
		numbers, items = append(numbers, n), append(items, jobs.Item{Args: job})
	}
	return numbers, items
}

// job draws what the next job will do.
func (l *load) job(rnd *rand.Rand) (n int64, args jobs.Args) {
	s := script{N: l.next()}
	switch d := rnd.IntN(1000); {
	case d < 400: // no-op
	case d < 600:
		s.MS = 5 + rnd.IntN(150)
	case d < 640:
		s.MS = 300 + rnd.IntN(1200)
	case d < 650:
		s.MS, s.Steps = 500+rnd.IntN(2500), []string{"deaf"}
	case d < 750:
		s.Steps = [][]string{{"fail", "ok"}, {"fail", "fail", "ok"}, {"fail"}}[rnd.IntN(3)]
		return s.N, retryScript{s}
	case d < 800:
		s.Steps = [][]string{{"fail"}, {"fail", "ok"}, {"permanent"}, {"cancel"}}[rnd.IntN(4)]
		return s.N, deleteScript{s}
	case d < 880:
		s.Steps = [][]string{{"snooze", "ok"}, {"snooze", "snooze", "fail", "ok"}}[rnd.IntN(2)]
	case d < 940:
		s.Steps = [][]string{{"panic", "ok"}, {"panic"}}[rnd.IntN(2)]
	case d < 941 && !l.spare:
		s.Steps = []string{"exit", "ok"}
	default:
		s.Steps = [][]string{{"fail", "ok"}, {"fail"}}[rnd.IntN(2)]
	}
	return s.N, plainScript{s}
}
