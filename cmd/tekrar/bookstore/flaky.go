package bookstore

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/tekrar/tekrar/jobs"
)

// Flaky orders a book from a publisher whose service is up only part of the time.
// The same seed gives the same outcome, attempt by attempt.
type Flaky struct {
	Seed    int64 `json:"seed,omitempty"` // 0: the job's own id
	Rate    int   `json:"rate"`           // percent of first attempts that succeed, 0 to 100
	Millis  int   `json:"millis"`         // how long one attempt takes, 0 to 60,000
	SoldOut int   `json:"sold_out"`       // percent of jobs that fail for good at once, 0 to 100
}

// Kind names the job.
func (Flaky) Kind() string { return "flaky" }

// ErrSoldOut: the book is out of print. Time does not help.
var ErrSoldOut = errors.New("the book is out of print")

var errUnavailable = errors.New("publisher said 503 Service Unavailable")

func (w *World) flake(ctx context.Context, job *jobs.Job[Flaky]) error {
	a := job.Args
	if err := a.check(); err != nil {
		return jobs.Permanent(err)
	}
	if err := pause(ctx, time.Duration(a.Millis)*time.Millisecond); err != nil {
		return err
	}
	if a.Seed == 0 {
		a.Seed = job.ID
	}
	return a.outcome(job.Attempt)
}

func (a Flaky) check() error {
	for _, f := range []struct {
		name       string
		value, max int
	}{{"rate", a.Rate, 100}, {"millis", a.Millis, 60_000}, {"sold_out", a.SoldOut, 100}} {
		if f.value < 0 || f.value > f.max {
			return fmt.Errorf("%s is %d, must be 0 to %d", f.name, f.value, f.max)
		}
	}
	return nil
}

// outcome is fixed by seed and attempt alone, so that a job which runs twice because
// its server was lost ends the same way. An attempt after the first succeeds at
// least in half of the cases: a service that was down comes back.
func (a Flaky) outcome(attempt int) error {
	if a.roll(0) < a.SoldOut {
		return ErrSoldOut
	}
	rate := a.Rate
	if attempt > 1 && rate > 0 {
		rate = max(rate, 50)
	}
	if a.roll(attempt) < rate {
		return nil
	}
	return errUnavailable
}

// roll is a number from 0 to 99; n tells the rolls of one seed apart.
func (a Flaky) roll(n int) int {
	h := fnv.New64a()
	h.Write([]byte(strconv.FormatInt(a.Seed, 36) + "/" + strconv.Itoa(n)))
	// The low bits of FNV are weak for short inputs that differ in one digit.
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return int(x % 100)
}
