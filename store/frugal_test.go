package store_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tekrar/tekrar/store"
)

// answers is a question whose answer is how often it was asked.
type answers struct {
	store.Frugal[int]
	takes time.Duration
	fails error
	asked int
}

func (a *answers) look(ctx context.Context) (int, error) {
	a.asked++
	n, err := a.asked, a.fails
	select {
	case <-time.After(a.takes):
		return n, err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// wants asks and wants an answer, and it after so long.
func (a *answers) wants(t *testing.T, want int, after time.Duration) {
	t.Helper()
	began := time.Now()
	got, err := a.Get(t.Context(), t.Context(), a.look)
	if err != nil || got != want || time.Since(began) != after {
		t.Errorf("got %d, %v after %s; want %d after %s", got, err, time.Since(began), want, after)
	}
}

func TestFrugalRestsForAShareOfALook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &answers{takes: 100 * time.Millisecond}
		a.wants(t, 1, a.takes)
		a.wants(t, 1, 0)
		time.Sleep(19*a.takes - 1)
		a.wants(t, 1, 0)
		time.Sleep(a.takes) // nobody asked again meanwhile
		a.wants(t, 1, 0)    // this one asks, and does not wait
		time.Sleep(a.takes)
		synctest.Wait()
		a.wants(t, 2, 0)
	})
}

// A look of minutes would else be good for half an hour.
func TestFrugalNeverRestsForLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &answers{takes: 5 * time.Second}
		a.wants(t, 1, a.takes)
		time.Sleep(10 * time.Second)
		a.wants(t, 1, 0)
		time.Sleep(5 * time.Second) // older than 15 s, but the second look has just come
		synctest.Wait()
		a.wants(t, 2, 0)
		time.Sleep(time.Minute) // nobody asked: too old to be given away
		a.wants(t, 3, a.takes)
	})
}

func TestFrugalLooksOnceForAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &answers{takes: time.Second}
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() { a.wants(t, 1, a.takes) })
		}
		all.Wait()
	})
}

func TestFrugalFailsForThoseWhoWaited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &answers{takes: time.Second, fails: errors.New("gone")}
		for range 2 { // a failure is not remembered
			if _, err := a.Get(t.Context(), t.Context(), a.look); !errors.Is(err, a.fails) {
				t.Errorf("got %v", err)
			}
		}
		a.fails = nil
		a.wants(t, 3, a.takes)
		time.Sleep(20 * time.Second)
		a.fails = errors.New("gone again") // the answer of before is not lost, but too old
		if _, err := a.Get(t.Context(), t.Context(), a.look); !errors.Is(err, a.fails) {
			t.Errorf("got %v", err)
		}
	})
}

// Who gives up takes nobody else's answer away; the end of the pool does.
func TestFrugalOutlivesWhoAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &answers{takes: time.Second}
		hurried, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := a.Get(hurried, t.Context(), a.look); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		a.wants(t, 1, time.Second-time.Millisecond)
		time.Sleep(time.Minute) // too old to be given away
		life, end := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, end)
		if _, err := a.Get(t.Context(), life, a.look); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}
