package jobs

import (
	"context"
	"slices"
	"time"

	"github.com/tekrar/tekrar/store"
)

const (
	// lookEvery is how often a server compares what it holds with what it knows.
	lookEvery = 30 * time.Second
	// suspectFor: what it then does not know of is most likely settled meanwhile, or
	// claimed at that moment. If it still holds it so much later, a claim took it
	// whose answer was lost.
	suspectFor = 2 * time.Second
)

// compare finds jobs that a claim took although it was cut off, and committed after
// the look that followed it. It looks beside the claims, past many dead rows it takes
// long, and makes them unsure when it finds some twice.
func (k *claimer) compare(ctx context.Context) {
	if k.comparing != nil {
		select {
		case unknown := <-k.comparing:
			k.comparing, k.looked = nil, time.Now()
			again := slices.DeleteFunc(slices.Clone(unknown), func(t store.Token) bool { return !slices.Contains(k.suspects, t) })
			k.unsure = k.unsure || len(again) > 0
			if k.suspects != nil {
				unknown = nil // looked at twice: others are suspected next time
			}
			k.suspects = unknown
		default:
			return
		}
	}
	every := k.e.c.scans.every
	if k.suspects != nil {
		every = suspectFor
	}
	if k.unsure || time.Since(k.looked) < every {
		return
	}
	k.comparing = make(chan []store.Token, 1)
	server := k.e.server.Load()
	k.looks.Go(func() {
		timed, cancel := context.WithTimeout(ctx, lookPatience)
		defer cancel()
		before := k.known() // some of it ends during the look
		held, err := k.e.db.Running(timed, server)
		if err != nil && ctx.Err() == nil {
			k.e.log.Warn("could not look for jobs of a claim whose answer was lost; tried again", "err", err)
		}
		after := k.known()
		held = slices.DeleteFunc(held, func(t store.Token) bool { return before[t] || after[t] })
		if len(held) == 0 {
			held = nil
		}
		k.comparing <- held
	})
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
	known := k.known()
	held, err := k.e.db.Held(ctx, k.e.server.Load(), []int64{})
	if err != nil {
		return nil, err
	}
	k.unsure, k.looked, k.suspects = false, time.Now(), nil
	return slices.DeleteFunc(held, func(c store.Claimed) bool { return known[store.Token{ID: c.ID, Attempt: c.Attempt}] }), nil
}

func (k *claimer) known() map[store.Token]bool {
	known := map[store.Token]bool{}
	for _, t := range append(k.e.held.all(), k.e.settler.tokens()...) {
		known[t] = true
	}
	return known
}
