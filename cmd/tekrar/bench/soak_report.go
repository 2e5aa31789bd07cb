//go:build linux || darwin

package bench

import (
	"context"
	"io"
	"maps"
	"time"

	"github.com/tekrar/tekrar/store"
)

// soakFigures is the line that a soak prints.
type soakFigures struct {
	Bench        string  `json:"bench"`
	Seconds      float64 `json:"seconds"` // under load
	Acknowledged int     `json:"acknowledged"`
	verdict
	Faults     map[string]int     `json:"faults"`
	SettleGaps map[string]float64 `json:"longest_without_settle_ms"`  // by the fault during which it was
	AcceptGaps map[string]float64 `json:"longest_without_enqueue_ms"` // the same of jobs that were acknowledged
	Resumed    map[string]float64 `json:"settled_after_writes_ms"`    // from when the database took writes again, at worst
	Breaches   []string           `json:"breaches"`
}

func (s *soak) report(ctx context.Context, out io.Writer) error {
	e := &evidence{ledger: s.ledger, outages: s.probe.stalls, deaths: map[int]time.Time{}, lease: chaosLease, sweep: chaosSweep, slack: chaosSlack}
	for _, w := range s.workers {
		maps.Copy(e.deaths, w.deaths)
	}
	if err := e.collect(ctx, s.db, s.journal()); err != nil {
		return err
	}
	e.judge()
	var settled, accepted []time.Time
	for _, step := range e.record.Steps {
		if step.Settled && step.State != store.Late {
			settled = append(settled, step.At)
		}
	}
	for n, id := range e.promised {
		if first, there := e.created[id]; there && e.numbers[id] == n {
			accepted = append(accepted, first.At)
		}
	}
	f := soakFigures{
		Bench: "soak", Seconds: s.during.To.Sub(s.during.From).Round(time.Second).Seconds(), Acknowledged: len(e.promised), verdict: e.figures,
		Faults: map[string]int{}, SettleGaps: gaps(settled, s.marks, s.during), AcceptGaps: gaps(accepted, s.marks, s.during),
		Resumed:  waits(settled, s.writes, s.during),
		Breaches: append([]string{}, e.breaches[:min(len(e.breaches), 50)]...),
	}
	for _, m := range s.marks {
		f.Faults[m.Name]++
	}
	return report(out, f, e.breaches)
}
