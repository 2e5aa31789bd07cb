package store_test

import (
	"context"
	"errors"
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

// wants asks and wants an answer, 0 for none, and how often was looked.
func (a *answers) wants(t *testing.T, want, asked int) {
	t.Helper()
	synctest.Wait()
	got, ok := a.Get(t.Context(), a.look)
	if !ok {
		got = 0
	}
	synctest.Wait()
	if got != want || a.asked != asked {
		t.Errorf("got %d after %d looks, want %d after %d", got, a.asked, want, asked)
	}
}

func TestFrugalRestsForAShareOfALook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &answers{takes: 100 * time.Millisecond}
		a.wants(t, 0, 1)
		a.wants(t, 0, 1) // one look at a time
		time.Sleep(a.takes)
		a.wants(t, 1, 1)
		time.Sleep(19*a.takes - 1)
		a.wants(t, 1, 1)
		time.Sleep(time.Nanosecond)
		a.wants(t, 1, 2) // this one asks, and gets the last answer
		time.Sleep(a.takes)
		a.wants(t, 2, 2)
	})
}

// A look of minutes would else be good for half an hour.
func TestFrugalNeverRestsForLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &answers{takes: 6 * time.Second}
		a.wants(t, 0, 1)
		time.Sleep(a.takes)
		a.wants(t, 1, 1)
		time.Sleep(10 * time.Second)
		a.wants(t, 1, 2)
		time.Sleep(5 * time.Second)
		a.wants(t, 0, 2) // older than 15 seconds is not given away
		time.Sleep(time.Second)
		a.wants(t, 2, 2)
	})
}

// What fails is not asked for again at once, and is no answer.
func TestFrugalDoesWithoutWhatFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &answers{takes: time.Millisecond, fails: errors.New("gone")}
		a.wants(t, 0, 1)
		time.Sleep(a.takes)
		a.wants(t, 0, 1)
		time.Sleep(time.Second)
		a.fails = nil
		a.wants(t, 0, 2)
		time.Sleep(a.takes)
		a.wants(t, 2, 2)
		a.fails = errors.New("gone again")
		time.Sleep(time.Second)
		a.wants(t, 2, 3)
		time.Sleep(a.takes)
		a.wants(t, 2, 3) // what was known before is not lost
	})
}

func TestFrugalEndsWithItsDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &answers{takes: time.Hour}
		life, end := context.WithCancel(t.Context())
		a.Get(life, a.look)
		end()
		synctest.Wait() // else the bubble waits for the look
	})
}
