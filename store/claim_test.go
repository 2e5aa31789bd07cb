package store_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
)

func TestClaimHandsOverWhatWasEnqueued(t *testing.T) {
	e := writeSetup(t)
	id := e.enqueue(store.NewJob{Args: `{"n":1970670598291982290}`, Policy: `{"max_retries":2}`, Timeout: 1500 * time.Millisecond, Priority: 3})[0]
	c := e.claim(5)
	if len(c) != 1 {
		t.Fatal(c)
	}
	var policy struct {
		Max int `json:"max_retries"`
	}
	if json.Unmarshal([]byte(c[0].Policy), &policy) != nil || policy.Max != 2 || c[0].Args != `{"n": 1970670598291982290}` {
		t.Errorf("%+v", c[0])
	}
	if c[0].ID != id || c[0].Attempt != 1 || c[0].Priority != 3 || c[0].Kind != "k" || c[0].Queue != "default" || c[0].Timeout != 1500*time.Millisecond {
		t.Errorf("%+v", c[0])
	}
	if c[0].CreatedAt.After(c[0].ReadyAt) || c[0].ReadyAt.After(c[0].StartedAt) || time.Since(c[0].StartedAt) > time.Minute {
		t.Errorf("times %+v", c[0])
	}
	e.wantTold(id, fmt.Sprintf("running 1 r0 l0 s0 on %d\nenqueued 0\nprocessing 1 on %d", e.server, e.server))
	if e.count(`select count(*) from tekrar.history where state = 3 and latency_us between 0 and 60000000`) != 1 {
		t.Error("the claim's row has no latency")
	}
	held, err := e.db.Held(e.ctx, e.server, nil)
	if err != nil || len(held) != 1 || held[0].ID != id || held[0].Args != c[0].Args {
		t.Errorf("held %+v, %v", held, err)
	}
	if held, err := e.db.Held(e.ctx, e.server, []int64{id}); err != nil || len(held) != 0 {
		t.Errorf("held but known: %+v, %v", held, err)
	}
	e.check()
}

// Higher numbers first, then the one that became ready first; only registered
// kinds; never a paused queue; only listed queues.
func TestClaimOrderKindsAndQueues_EXE03_SCL08(t *testing.T) {
	e := writeSetup(t)
	ids := e.enqueue(store.NewJob{Priority: -4}, store.NewJob{}, store.NewJob{Priority: 4}, store.NewJob{}, store.NewJob{Kind: "unknown", Priority: 4},
		store.NewJob{Queue: "other"}, store.NewJob{Queue: "Default"})
	for _, want := range [][]int64{{ids[2], ids[1]}, {ids[3], ids[0]}, {}} {
		got := map[int64]bool{}
		for _, c := range e.claim(2) {
			got[c.ID] = true
		}
		for _, id := range want {
			if !got[id] || len(got) != len(want) {
				t.Fatalf("claimed %v, want %v", got, want)
			}
		}
	}
	if err := e.db.PauseQueue(e.ctx, "ann", "other"); err != nil {
		t.Fatal(err)
	}
	other := func() int {
		c, err := e.db.Claim(e.ctx, e.server, lanes("other"), []string{"k"}, 5)
		if err != nil {
			t.Fatal(err)
		}
		return len(c)
	}
	if n := other(); n != 0 {
		t.Errorf("%d claimed from a paused queue", n)
	}
	if err := e.db.ResumeQueue(e.ctx, "ann", "other"); err != nil {
		t.Fatal(err)
	}
	if n := other(); n != 1 {
		t.Errorf("%d claimed after the resume", n)
	}
	e.check()
}

// A lane's cursor hides what became ready before it.
func TestClaimFromACursor(t *testing.T) {
	e := writeSetup(t)
	e.enqueue(store.NewJob{}, store.NewJob{})
	var second time.Time
	if err := e.db.GetContext(e.ctx, &second, `select max(ready_at) from tekrar.ready`); err != nil {
		t.Fatal(err)
	}
	at := func(after time.Time) int {
		c, err := e.db.Claim(e.ctx, e.server, []store.Lane{{Queue: "default", After: after}}, []string{"k"}, 5)
		if err != nil {
			t.Fatal(err)
		}
		return len(c)
	}
	if a, b, c := at(second.Add(time.Microsecond)), at(second), at(time.Time{}); a != 0 || b != 1 || c != 1 {
		t.Errorf("%d after it, %d from it, %d from the start; want 0, 1, 1", a, b, c)
	}
}
