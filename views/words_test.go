package views

import (
	"strings"
	"testing"
	"time"
)

func limit(n int) *int { return &n }

func TestAttemptWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		row                JobRowProps
		attempt, once, new string
	}{
		{JobRowProps{State: Processing, Attempt: 2, Retry: 1, MaxRetries: limit(3)}, "attempt 2 of 4", "", ""},
		{JobRowProps{State: Scheduled, Attempt: 1, Retry: 1, MaxRetries: limit(3)}, "attempt 2 of 4", "Run now: attempt 2 of 4", ""},
		{JobRowProps{State: Enqueued, MaxRetries: limit(10)}, "attempt 1 of 11", "", ""},
		{JobRowProps{State: Failed, Attempt: 4, Retry: 3, MaxRetries: limit(3)}, "attempt 4 of 4", "Run once: attempt 5 (final)", "Retry with a fresh budget: attempts 5–8"},
		{JobRowProps{State: Failed, Attempt: 1, MaxRetries: limit(3)}, "attempt 1 of 4", "Run once: attempt 2 (3 retries left)", "Retry with a fresh budget: attempts 2–5"},
		{JobRowProps{State: Failed, Attempt: 1, MaxRetries: limit(0)}, "attempt 1 of 1", "Run once: attempt 2 (final)", "Retry with a fresh budget: attempt 2"},
		{JobRowProps{State: Failed, Attempt: 2, Retry: 1}, "attempt 2", "Run once: attempt 3", "Retry with a fresh budget: from attempt 3"},
		{JobRowProps{State: Failed, Attempt: 7, Retry: 5, MaxRetries: limit(3)}, "attempt 7 of 7", "Run once: attempt 8 (final)", ""},
		{JobRowProps{State: Succeeded, Attempt: 3, Retry: 2, MaxRetries: limit(3)}, "attempt 3", "Run again: attempt 4", ""},
	} {
		if got := c.row.attemptOf(nil); got != c.attempt {
			t.Errorf("%+v: %q, want %q", c.row, got, c.attempt)
		}
		if got := c.row.onceLabel(nil); c.once != "" && got != c.once {
			t.Errorf("once %q, want %q", got, c.once)
		}
		if got := c.row.freshLabel(nil); c.new != "" && got != c.new {
			t.Errorf("fresh %q, want %q", got, c.new)
		}
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{Count{N: 10000, AtLeast: true}.text(nil), "10,000+"}, {Count{N: 1}.of(nil, "1 job", "%s jobs"), "1 job"}, {Count{N: 1, AtLeast: true}.of(nil, "1 job", "%s jobs"), "1+ jobs"},
		{clip("abc", 3), "abc"}, {clip("abcd", 3), "ab…"}, {clip("🐢🐢🐢", 2), "🐢…"}, {clip("ğğğ", 3), "ğğğ"},
		{pretty(`{"n":9007199254740993123,"f":1.10}`), "{\n  \"n\": 9007199254740993123,\n  \"f\": 1.10\n}"}, {pretty("no json"), "no json"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestVerdictNamesTheWorstFirst(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	old := now.Add(-4 * time.Minute)
	hour := func(first, ok int64) []Bucket { return []Bucket{{First: first, FirstOK: ok}, {}} }
	l := Layout{Now: now}
	for _, c := range []struct {
		h           HealthProps
		level, text string
	}{
		{HealthProps{LoadFailed: true}, "bad", "could not be loaded"},
		{HealthProps{Never: true}, "idle", "No job has been enqueued yet"},
		{HealthProps{Waiting: Count{N: 120}, OldestReady: &old}, "bad", "No server is running: 120 jobs wait. The oldest has waited for 4 min."},
		{HealthProps{LiveServers: 1, Waiting: Count{N: 2}, OldestReady: &old, Failed: Count{N: 1}}, "bad", "the oldest of 2 for 4 min"},
		{HealthProps{LiveServers: 1, Waiting: Count{N: 2}, OldestReady: &old, Paused: []string{"mail"}}, "warn", "Paused: “mail”."},
		{HealthProps{LiveServers: 1, Hour: hour(100, 80)}, "warn", "Only 80.0 % of first attempts"},
		{HealthProps{LiveServers: 1, Hour: hour(49, 1)}, "ok", "All is well"},
		{HealthProps{LiveServers: 1, Failed: Count{N: 1}}, "warn", "1 failed job waits for a decision."},
		{HealthProps{LiveServers: 1, Unhandled: []string{"x"}}, "warn", "No server handles “x”"},
		{HealthProps{}, "warn", "No server is running."},
	} {
		got := remarks(l, c.h)[0]
		if got.level != c.level || !strings.Contains(got.text, c.text) {
			t.Errorf("got %s %q, want %s %q", got.level, got.text, c.level, c.text)
		}
	}
}
