package idempotency_test

import (
	"sync"
	"testing"

	"github.com/tekrar/tekrar/jobs/idempotency"
)

// UNQ-07: a crash inside a claim blocks the key no longer than StaleAfter, and then
// one of 50 gets it.
func TestUNQ07OneOfFiftyTakesAStaleClaim(t *testing.T) {
	b := setup(t)
	b.hold()
	b.age()
	results := map[idempotency.Result]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			out, err := b.Claim(b.ctx, nil, mail)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			results[out.Result]++
		})
	}
	all.Wait()
	b.same(map[idempotency.Result]int{idempotency.Held: 1, idempotency.Busy: 49}, results)
}

// The same when the key is new, and when an effect is in doubt.
func TestOneOfManyTakesAFreeClaim(t *testing.T) {
	b := setup(t)
	for _, n := range []int{1, 2} {
		var won, lost int
		var mu sync.Mutex
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				out, err := b.Claim(b.ctx, nil, mail, idempotency.OnUnknown(idempotency.Resend))
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				if out.Result == idempotency.Held {
					won++
					if err := out.Claim.Begin(b.ctx); err != nil {
						t.Error(err)
					}
				} else if out.Result == idempotency.Busy {
					lost++
				}
			})
		}
		all.Wait()
		if won != 1 || lost != 19 {
			t.Errorf("round %d: %d won and %d found it busy, want 1 and 19", n, won, lost)
		}
		b.age()
	}
}
