package views

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/views/locale"
)

func TestFireWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fire         FireProps
		words, shape string
	}{
		{FireProps{State: Succeeded, Attempt: 1}, "succeeded", "succeeded"},
		{FireProps{State: Succeeded, Attempt: 3, Retry: 2, MaxRetries: limit(3)}, "succeeded at attempt 3", "succeeded"},
		{FireProps{State: Failed, Attempt: 1}, "failed", "failed"},
		{FireProps{State: Failed, Attempt: 4, Retry: 3}, "failed after 4 attempts", "failed"},
		{FireProps{State: Scheduled, Attempt: 2, Retry: 2, MaxRetries: limit(3)}, "retrying 2 of 3", "retrying"},
		{FireProps{State: Enqueued, Attempt: 2, Retry: 2, MaxRetries: limit(3)}, "retrying 2 of 3", "retrying"},
		{FireProps{State: Scheduled, Attempt: 2, Retry: 2}, "retrying 2", "retrying"},
		{FireProps{State: Scheduled, Attempt: 5, Retry: 5, MaxRetries: limit(3)}, "retrying 5 of 5", "retrying"},
		{FireProps{State: Scheduled}, "scheduled", "scheduled"},
		{FireProps{State: Enqueued}, "enqueued", "enqueued"},
		{FireProps{State: Processing, Attempt: 1}, "running", "processing"},
		{FireProps{State: Processing, Attempt: 2, Retry: 1, MaxRetries: limit(3)}, "running, retry 1 of 3", "processing"},
		{FireProps{State: Deleted}, "deleted", "deleted"},
		{FireProps{Outcome: "skipped"}, "skipped", "skipped"},
		{FireProps{Outcome: "waiting"}, "waiting", "paused"},
		{FireProps{Outcome: "enqueued"}, "enqueued, its job is gone", "late"},
	} {
		if got, s := c.fire.words(nil), c.fire.shape(); got != c.words || s != c.shape {
			t.Errorf("%+v: %q as %s, want %q as %s", c.fire, got, s, c.words, c.shape)
		}
	}
}

// CRN-17: what is paused, removed, broken or ended promises no next fire, and says
// where it stands.
func TestCRN17StandingAndNextFire(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	soon, late, then := now.Add(time.Minute), now.Add(-11*time.Second), now.Add(-time.Hour)
	for _, c := range []struct {
		row      RecurringRowProps
		word, do string
		next     bool
	}{
		{RecurringRowProps{Next: &soon}, "active", "pause", true},
		{RecurringRowProps{Next: &late}, "overdue", "pause", true},
		{RecurringRowProps{Next: &soon, StartAt: &soon}, "not started", "pause", true},
		{RecurringRowProps{Next: &soon, PausedAt: &then}, "paused", "resume", false},
		{RecurringRowProps{PausedAt: &then}, "paused", "resume", false},
		{RecurringRowProps{Next: &soon, PausedAt: &then, RemovedAt: &then}, "removed", "resume", false},
		{RecurringRowProps{Next: &soon, Error: "zone"}, "cannot fire", "resume", false},
		{RecurringRowProps{Error: "zone"}, "cannot fire", "resume", false},
		{RecurringRowProps{}, "ended", "", false},
	} {
		do, _ := c.row.goes()
		if got := c.row.standing(now).word; got != c.word || do != c.do || (c.row.nextFire() != nil) != c.next {
			t.Errorf("%+v: %s, %q, next %v; want %s, %q, %v", c.row, got, do, c.row.nextFire(), c.word, c.do, c.next)
		}
		var b strings.Builder
		c.row.ID, c.row.Words = "x", "Every day"
		if err := RecurringRow(Layout{Now: now}, c.row).Render(context.Background(), &b); err != nil || !strings.Contains(b.String(), c.word) {
			t.Errorf("%s: %v\n%s", c.word, err, b.String())
		}
		if dash := strings.Contains(b.String(), `title="No fire is to come">–<`); dash == c.next {
			t.Errorf("%s: a dash for the next fire: %v", c.word, dash)
		}
	}
}

func TestTimesInTwoZones(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 14, 15, 10, 0, 0, time.UTC)
	istanbul, err := time.LoadLocation("Europe/Istanbul")
	if err != nil {
		t.Fatal(err)
	}
	var en *locale.Locale
	tr, err := locale.New("tr", "Europe/Istanbul")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ got, want string }{
		{en.Whole(at), "2026-03-14 15:10:00 UTC"}, {en.Whole(at.Add(1500 * time.Microsecond)), "2026-03-14 15:10:00.0015 UTC"}, {tr.Whole(at), "14.03.2026 18:10:00 +03:00"},
		{en.There(at), ""}, {en.There(at.In(istanbul)), "2026-03-14 18:10:00 +03"}, {en.There(at.In(time.FixedZone("GMT", 0))), "2026-03-14 15:10:00 GMT"},
		{tr.There(at.In(istanbul)), ""}, {tr.There(at), "14.03.2026 15:10:00 UTC"}, {en.Day(at), "14 Mar"}, {tr.Day(at.Add(6 * time.Hour)), "15 Mar"}, {tr.Day(at.AddDate(0, -1, 0)), "14 Şub"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// CRN-19: a fire in 40 days is counted down in days, on the server as in the script.
func TestCRN19FarFire(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	if got := (*locale.Locale)(nil).Relative(now.Add(40*24*time.Hour), now); got != "in 40 d" {
		t.Errorf("got %q", got)
	}
}

func TestOddRecurringIDsArriveUnchanged(t *testing.T) {
	t.Parallel()
	l := Links{Prefix: "/ops"}
	rows := map[string]bool{}
	for _, id := range []string{"a/b", "a b", "a+b", "100%", "%2F", "?x=1", "#h", "🐢", "ğ\"'<>", `a\b`, "..", ".", "a/../b", "../x", "act", "new", "preview", strings.Repeat("q", 200)} {
		u, err := url.Parse(l.RecurringOne(id))
		if err != nil {
			t.Fatalf("%q: %v", id, err)
		}
		// A browser resolves dot segments of the path before it asks.
		got, err := url.PathUnescape(strings.TrimPrefix((&url.URL{}).ResolveReference(u).EscapedPath(), "/ops/recurring/"))
		if u.Path == "/ops/recurring" {
			got = u.Query().Get("id")
		}
		if got != id || err != nil || u.Fragment != "" || strings.Count(u.EscapedPath(), "/") > 3 {
			t.Errorf("%q: %s arrives as %q, %v", id, u, got, err)
		}
		row := RecurringRowID(id)
		if rows[row] || strings.ContainsAny(row, " \t\n\"'<>") {
			t.Errorf("%q: element id %q is double or odd", id, row)
		}
		rows[row] = true
	}
}
