package jobs

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"
)

// jitter spreads d over 75 to 100 % of it.
func jitter(d time.Duration) time.Duration {
	return d - time.Duration(rand.Int64N(int64(d)/4+1))
}

// signal is a wake-up that is never lost and never queues up.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

func (s signal) send() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// sleep waits for d, a signal or the end of ctx, and reports whether ctx lives.
func sleep(ctx context.Context, d time.Duration, wake signal) bool {
	if d <= 0 && wake == nil {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-wake:
	case <-timer.C:
	}
	return ctx.Err() == nil
}

// lingering is a context that outlives ctx by grace.
func lingering(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return out, func() { stop(); cancel() }
}

// incident logs the first failure of a row and its end, and grows the wait
// between tries: 100 ms doubling to 5 s, jittered.
type incident struct {
	log   *slog.Logger
	what  string
	since time.Time
	wait  time.Duration
}

func (i *incident) failed(err error) time.Duration {
	if i.since.IsZero() {
		i.since, i.wait = time.Now(), 50*time.Millisecond
		i.log.Warn(i.what+" failed; trying again until it works", "err", err)
	}
	i.wait = min(2*i.wait, 5*time.Second)
	return jitter(i.wait)
}

func (i *incident) ok() {
	if !i.since.IsZero() {
		i.log.Info(i.what+" works again", "after", time.Since(i.since).Round(time.Millisecond))
		i.since = time.Time{}
	}
}
