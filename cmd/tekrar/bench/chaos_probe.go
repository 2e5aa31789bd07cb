package bench

import (
	"context"
	"time"

	"github.com/tekrar/tekrar/jobs"
)

// probe enqueues without any fault in between and notes when that took long: then
// the database was away, or the machine had no time for it, and nobody could keep
// to the promised times.
type probe struct {
	client *jobs.Client
	*ledger
	stalls []span
}

const (
	probeEvery = 100 * time.Millisecond
	probeLong  = 700 * time.Millisecond
)

func (p *probe) run(ctx context.Context) {
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	last := time.Now()
	for {
		n := p.next()
		r, err := p.client.Enqueue(context.WithoutCancel(ctx), plainScript{script{N: n}})
		if err != nil {
			p.doubt(n)
		} else {
			p.promise(n, r.ID, r.Duplicate)
		}
		if now := time.Now(); now.Sub(last) > probeLong {
			p.stalls = append(p.stalls, span{last, now})
		}
		last = time.Now()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// total adds spans up.
func total(spans []span) (d time.Duration) {
	for _, s := range spans {
		d += s.To.Sub(s.From)
	}
	return d
}
