package bookstore

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestFlakyKeepsItsRate(t *testing.T) {
	t.Parallel()
	for _, rate := range []int{0, 10, 50, 80, 100} {
		ok, jobs := 0, 20_000
		for seed := range jobs {
			a := Flaky{Seed: int64(seed + 1), Rate: rate}
			if a.outcome(1) == nil {
				ok++
			}
		}
		if share := float64(ok) / float64(jobs) * 100; share < float64(rate)-1.5 || share > float64(rate)+1.5 {
			t.Errorf("rate %d: %.1f %% of first attempts succeed", rate, share)
		}
	}
}

func TestFlakyIsDecidedBySeedAndAttempt(t *testing.T) {
	t.Parallel()
	differ := false
	for seed := int64(1); seed < 200; seed++ {
		a := Flaky{Seed: seed, Rate: 50}
		again := Flaky{Seed: seed, Rate: 50}
		if (a.outcome(1) == nil) != (again.outcome(1) == nil) {
			t.Fatalf("seed %d: two outcomes of one attempt", seed)
		}
		differ = differ || (a.outcome(1) == nil) != (a.outcome(2) == nil)
		if err := (Flaky{Seed: seed, Rate: 100, SoldOut: 100}).outcome(2); !errors.Is(err, ErrSoldOut) {
			t.Errorf("seed %d: sold out, then %v", seed, err)
		}
	}
	if !differ {
		t.Error("no attempt 2 differs from attempt 1: retries would never help")
	}
}

// A supplier that was restarted makes nobody wait longer.
func TestSupplierBelievesEarlierTries(t *testing.T) {
	t.Parallel()
	s := NewSupplier(-1)
	var silent *SupplierTimeout
	if _, err := s.Fetch(t.Context(), 7001, 1, 1); !errors.As(err, &silent) || err.Error() != "Supplier API did not respond in 10 s" {
		t.Errorf("second try: %v", err)
	}
	if inv, err := s.Fetch(t.Context(), 7001, 1, 2); err != nil || inv.Number != 7001 {
		t.Errorf("third try: %+v, %v", inv, err)
	}
	if len(s.calls) != 0 {
		t.Errorf("%d answered requests are remembered", len(s.calls))
	}
	for request := range int64(3 * maxWaiting) {
		s.Fetch(t.Context(), 7001, request, 0)
	}
	if len(s.calls) > maxWaiting {
		t.Errorf("%d requests are remembered, want at most %d", len(s.calls), maxWaiting)
	}
}

func TestPauseEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("the shop closes")
		ctx, cancel := context.WithCancelCause(t.Context())
		began := time.Now()
		go func() { time.Sleep(time.Second); cancel(cause) }()
		if err := pause(ctx, time.Hour); !errors.Is(err, cause) || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if err := pause(t.Context(), time.Minute); err != nil {
			t.Error(err)
		}
	})
}

// Every roll of the traffic gives a job that its own limits accept.
func TestTrafficEnqueuesOnlyValidJobs(t *testing.T) {
	t.Parallel()
	w, kinds := New(Config{}), map[string]int{}
	for roll := range 1000 {
		args := w.customer(roll)
		kinds[args.Kind()]++
		if f, ok := args.(Flaky); ok && f.check() != nil {
			t.Errorf("roll %d: %v", roll, f.check())
		}
	}
	if len(kinds) != 5 {
		t.Errorf("kinds: %v", kinds)
	}
}
