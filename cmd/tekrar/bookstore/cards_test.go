package bookstore

import (
	"strings"
	"testing"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/web"
)

func presets(c web.Card) map[string]string {
	values := map[string]string{}
	for _, f := range c.Fields {
		values[f.Name] = f.Value
	}
	return values
}

func TestCardsWorkAsTheyStand(t *testing.T) {
	t.Parallel()
	keys := map[string]bool{}
	for _, c := range Cards() {
		item, err := c.Item(presets(c), 0)
		switch {
		case err != nil:
			t.Errorf("%s: %v", c.Key, err)
			continue
		case item.Args.Kind() != c.Kind:
			t.Errorf("%s enqueues %s, says %s", c.Key, item.Args.Kind(), c.Kind)
		}
		if keys[c.Key] || c.Title == "" || c.Story == "" || strings.Count(c.Expect, ".") == 0 || c.Count < 1 || c.Count > c.MaxCount {
			t.Errorf("card %q is not whole: %+v", c.Key, c)
		}
		keys[c.Key] = true
		for _, f := range c.Fields {
			values := presets(c)
			values[f.Name] = "nonsense"
			if _, err := c.Item(values, 0); err == nil || !strings.Contains(err.Error(), f.Name) || !strings.Contains(err.Error(), "must be") {
				t.Errorf("%s with a bad %s: %v", c.Key, f.Name, err)
			}
		}
	}
}

func TestQuickKindsEndAsTheyShould(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	for _, tt := range []struct {
		name string
		args jobs.Args
		want store.State
		at   int
	}{
		{"order", OrderConfirmation{OrderID: 1}, store.Succeeded, 1},
		{"report", NightlyReport{Day: "2026-01-31"}, store.Succeeded, 1},
		{"report of no day", NightlyReport{Day: "yesterday"}, store.Failed, 1},
		{"report too long", NightlyReport{Day: "2026-01-31", Seconds: 61}, store.Failed, 1},
		{"flaky that works", Flaky{Rate: 100}, store.Succeeded, 1},
		{"flaky sold out", Flaky{Rate: 100, SoldOut: 100}, store.Failed, 1},
		{"flaky beyond its limit", Flaky{Rate: 101}, store.Failed, 1},
	} {
		id := s.enqueue(t, tt.args)
		if d := s.until(t, id, store.Succeeded, store.Failed, store.Scheduled); d.State != tt.want || d.Attempt != tt.at {
			t.Errorf("%s: %s at attempt %d, want %s at %d", tt.name, d.State, d.Attempt, tt.want, tt.at)
		}
	}
	id := s.enqueue(t, OrderConfirmation{OrderID: 2, Refusals: 1})
	if d := s.until(t, id, store.Scheduled); d.RunAt.Sub(d.Since).Minutes() < 1 {
		t.Errorf("refused order waits until %v, a minute after %v at the earliest", d.RunAt, d.Since)
	}
}

// A deleted report stops although its 60 s are far from over.
func TestReportListensToItsContext(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	id := s.enqueue(t, NightlyReport{Day: "2026-01-31", Seconds: 60})
	s.until(t, id, store.Processing)
	moved, err := s.client.Delete(t.Context(), "ada", jobs.Target{ID: id, Expected: store.Processing})
	if err != nil || moved[0].Err != nil {
		t.Fatal(err, moved)
	}
	// The late row is the outcome of the attempt that was asked to stop.
	s.when(t, id, func(d store.JobDetail) bool {
		return d.State == store.Deleted && d.History[0].State == store.Late
	})
}
