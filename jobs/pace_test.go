package jobs_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tekrar/tekrar/jobs"
)

// Statements are spaced out only while jobs come fast.
func TestPaceRestsOnlyWhileJobsComeFast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p jobs.Pace
		for what, c := range map[string]struct {
			every, left time.Duration
			n           int64
		}{
			"a burst after a pause":  {every: time.Minute, n: 5000, left: 0},
			"one job at a time":      {every: 2 * time.Millisecond, n: 1, left: 0},
			"2,000 a second":         {every: 4 * time.Millisecond, n: 8, left: 7 * time.Millisecond},
			"20,000 a second":        {every: 4 * time.Millisecond, n: 80, left: 7 * time.Millisecond},
			"few, and then none":     {every: 4 * time.Millisecond, n: 2, left: 0},
			"999 a second is slower": {every: time.Second, n: 999, left: 0},
		} {
			p = jobs.Pace{}
			for range 300 {
				p.Saw(c.n)
				time.Sleep(c.every)
			}
			p.Saw(c.n)
			time.Sleep(time.Millisecond)
			if left := p.Rest(8 * time.Millisecond); left != c.left {
				t.Errorf("%s: %v left, want %v", what, left, c.left)
			}
		}
		p.Saw(0)
		time.Sleep(10 * time.Millisecond)
		if left := p.Rest(8 * time.Millisecond); left > 0 {
			t.Errorf("%v left after the gap", left)
		}
	})
}
