package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
)

func readme(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestReadmeShowsTheCompiledExample(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../jobs/example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(b), "// readme: begin\n")
	example, _, found := strings.Cut(example, "\n// readme: end")
	if !found {
		t.Fatal("the example has lost its markers")
	}
	if !strings.Contains(readme(t), "```go\n"+strings.TrimSpace(example)+"\n```") {
		t.Errorf("README.md must show:\n%s", strings.TrimSpace(example))
	}
}

func TestReadmeNamesEverySetting(t *testing.T) {
	t.Parallel()
	text := readme(t)
	for _, s := range settings {
		flag, value := "`--"+s.name+"`", "`"+s.value+"`"
		if s.envOnly {
			flag = "none"
		}
		if s.value == "" {
			value = ""
		}
		row := fmt.Sprintf("| %s | `%s` | %s | %s |", flag, s.env, value, s.help)
		if !strings.Contains(text, row) {
			t.Errorf("README.md lacks the row\n%s", row)
		}
	}
}

func TestReadmeNamesEveryCommand(t *testing.T) {
	t.Parallel()
	text := readme(t)
	for _, c := range commands() {
		row := fmt.Sprintf("| `tekrar %s` | %s |", strings.TrimSpace(c.name+" "+c.args), c.summary)
		if !strings.Contains(text, row) {
			t.Errorf("README.md lacks the row\n%s", row)
		}
	}
}

func TestReadmeStatesTheTrueWaits(t *testing.T) {
	t.Parallel()
	text, policy := readme(t), jobs.DefaultRetry()
	var total time.Duration
	for n := 1; n <= policy.MaxRetries; n++ {
		low, high := policy.WaitBand(n)
		total += high
		row := fmt.Sprintf("| %d | %s to %s | %s |", n, short(low), short(high), short(total))
		if !strings.Contains(text, row) {
			t.Errorf("README.md lacks the row\n%s", row)
		}
	}
	low, high := policy.Window()
	window := fmt.Sprintf("%s to %s", minutes(low), minutes(high))
	if !strings.Contains(text, window) {
		t.Errorf("README.md must say %q", window)
	}
}

// short is a wait as the README words it: seconds below two minutes, then minutes.
func short(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return minutes(d)
}

func minutes(d time.Duration) string {
	m := int(d.Round(time.Minute).Minutes())
	return fmt.Sprintf("%d h %d min", m/60, m%60)
}
