//go:build linux || darwin

package bench

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store/storetest"
)

// A soak without harm ends when its input does, and says what it was told.
func TestSoakWithoutHarm(t *testing.T) {
	t.Parallel()
	dir, dsn := t.TempDir(), storetest.DSN(t)
	in, script := io.Pipe()
	var out bytes.Buffer
	ended := make(chan error, 1)
	go func() { ended <- Soak(t.Context(), dsn, dir, in, &out) }()
	for _, name := range []string{"writes", "nothing", "writes", "nothing"} {
		io.WriteString(script, name+"\n")
	}
	script.Close()
	if err := <-ended; err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	var got soakFigures
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Faults["nothing"] != 2 || len(got.Faults) != 1 || len(got.Resumed) != 1 || got.Acknowledged == 0 || got.Breaches == nil || len(got.SettleGaps) == 0 {
		t.Errorf("%s", &out)
	}
}

func TestGapsBelongToTheFaultBeforeTheirEnd(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	marks := []mark{{"kill", at(10)}, {"switchover", at(20)}, {"kill", at(30)}}
	got := gaps([]time.Time{at(33), at(2), at(9), at(13), at(21), at(22), at(60), at(-5)}, marks, span{at(0), at(40)})
	if want := map[string]float64{"none": 7000, "kill": 11000, "switchover": 8000}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestWaitsBeginWithTheMark(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	got := waits([]time.Time{at(14), at(3), at(9)}, []mark{{"kill", at(1)}, {"switchover", at(4)}, {"kill", at(10)}}, span{at(0), at(20)})
	if want := map[string]float64{"switchover": 5000, "kill": 4000}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
