package bench

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
)

// A short chaos run ends without a breach, and had something to prove it with. The
// database crashes in longer ones: its recovery alone can take half of this time.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("half a minute of faults")
	}
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("needs signals")
	}
	t.Parallel()
	var out bytes.Buffer
	if err := Chaos(t.Context(), ChaosSettings{Minutes: .4, Seed: 3, Processes: 3}, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	var got struct {
		verdict
		Faults map[string]int `json:"faults"`
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	t.Log(strings.TrimSpace(out.String()))
	if got.Jobs < 100 || got.Succeeded < 50 || got.RolledBack == 0 {
		t.Errorf("too little load: %+v", got.verdict)
	}
	if got.Faults["kills"]+got.Faults["freezes"]+got.Faults["vanishings"] == 0 || got.Reclaims == 0 {
		t.Errorf("too little harm: %v, %d reclaims", got.Faults, got.Reclaims)
	}
}

func TestChaosSettingsAreChecked(t *testing.T) {
	t.Parallel()
	for _, s := range []ChaosSettings{
		{Minutes: 0, Processes: 3}, {Minutes: -1, Processes: 3}, {Minutes: 1, Processes: 1}, {Minutes: 1, Processes: 51},
		{Minutes: 1, Processes: 3, Crashes: -1}, {Minutes: 1, Processes: 3, Crashes: 11},
	} {
		if err := s.Check(); err == nil || !strings.HasPrefix(err.Error(), "--") {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
