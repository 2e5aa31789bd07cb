package views

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/views/locale"
)

var claimsNow = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)

func past(seconds int) time.Time { return claimsNow.Add(-time.Duration(seconds) * time.Second) }

func timeAt(t time.Time) *time.Time { return &t }

// Two attempts that follow each other do not overlap, not even where they touch; two
// that ran at once do, and the picture has them at the same place.
func TestContestSeesDoubleRuns(t *testing.T) {
	t.Parallel()
	one := Contender{Job: "7", Attempt: 1, RunFrom: past(60), RunTo: timeAt(past(30))}
	next := Contender{Job: "7", Attempt: 2, RunFrom: past(30), RunTo: timeAt(past(20))}
	twin := Contender{Job: "7", Attempt: 2, RunFrom: past(40)} // runs still
	for _, c := range []struct {
		all     []Contender
		summary string
		double  int
	}{
		{[]Contender{one}, "One contender, job 7, attempt 1.", 0},
		{[]Contender{one, next}, "2 contenders, one after the other.", 0},
		{[]Contender{one, twin}, "Double run: job 7, attempt 1 and job 7, attempt 2 ran at the same time for 10.0 s.", 1},
		{[]Contender{one, twin, {Holder: "cron", RunFrom: past(50)}}, "Double run: job 7, attempt 1 and job 7, attempt 2 ran at the same time for 10.0 s. 2 overlaps more.", 3},
	} {
		a := contestOf(c.all, claimsNow)
		if got := a.overlaps(); len(got) != c.double || a.summary(nil) != c.summary {
			t.Errorf("%d overlaps, %q; want %d, %q", len(got), a.summary(nil), c.double, c.summary)
		}
	}
	a := contestOf([]Contender{one, twin}, claimsNow)
	if r := a.run(one); r.x != "0" || r.w != "500" {
		t.Errorf("attempt 1 is drawn at %+v", r)
	}
	if r := a.run(twin); r.w != "666.67" || r.x != "333.33" {
		t.Errorf("attempt 2 is drawn at %+v", r)
	}
	instant := contestOf([]Contender{{RunFrom: claimsNow, RunTo: &claimsNow}}, claimsNow)
	if r := instant.run(instant.all[0]); r.x != "0" || r.w != "3" {
		t.Errorf("an instant is drawn at %+v", r)
	}
}

// What a person can decide is what the store would carry out.
func TestClaimDecisionsFollowTheState(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		state ClaimState
		stale bool
		want  string
	}{
		{Claimed, false, ""}, {Begun, false, ""}, {Claimed, true, "reclaim delivered not-delivered again"}, {Begun, true, "reclaim delivered not-delivered again"},
		{Unknown, false, "delivered not-delivered again"}, {ClaimDone, false, "again"}, {ClaimReleased, false, "again"}, {ClaimFailed, false, "again"}, {ClaimReserved, false, ""},
	} {
		var got []string
		for _, d := range (ClaimRowProps{State: c.state, Stale: c.stale}).decisions() {
			got = append(got, d.do)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s, stale %v: %v, want %s", c.state, c.stale, got, c.want)
		}
	}
}

// The story is in the order of time, also when a claim was freed on purpose and its
// last holder stands both as the present and as a past one.
func TestClaimStory(t *testing.T) {
	t.Parallel()
	p := ClaimProps{ClaimRowProps: ClaimRowProps{State: ClaimReleased, Job: "7", Attempt: 1, Generation: 2, ClaimedAt: past(60), SettledAt: timeAt(past(10)), Reason: "To be sent again, by Ada"},
		Past: []PastHolder{{Job: "7", Attempt: 1, State: ClaimDone, Generation: 1, ClaimedAt: past(60), BegunAt: timeAt(past(59)), Until: past(50)}, {Generation: 1, Again: "Ada", AgainProof: `"m1"`}},
		Late: []LateReceipt{{At: past(55), Receipt: `"m2"`, Generation: 1}}}
	var got []string
	for _, e := range p.story(nil) {
		got = append(got, e.title[:min(8, len(e.title))])
	}
	if want := "Claimed|Begun: f|A receip|Left by |To be se|Ended as"; strings.Join(got, "|") != want {
		t.Errorf("%v", got)
	}
}

func TestKeyLifeAndWords(t *testing.T) {
	t.Parallel()
	r := ClaimRowProps{KeyLife: time.Hour}
	if r.keyEnds() != nil {
		t.Error("a key life that has not begun ends")
	}
	r.EffectAt = timeAt(past(3600 - 7))
	if got := (*locale.Locale)(nil).Relative(*r.keyEnds(), claimsNow); got != "in 7 s" {
		t.Errorf("ends %s", got)
	}
	for d, want := range map[time.Duration]string{24 * time.Hour: "1 d", 5 * time.Minute: "5 min", 90 * time.Minute: "1 h 30 min", 36 * time.Hour: "1 d 12 h", 10 * time.Hour: "10 h", 15 * time.Second: "15.0 s"} {
		if got := lifeWords(nil, d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestOddKeysArriveUnchanged(t *testing.T) {
	t.Parallel()
	l := Links{Prefix: "/ops"}
	for _, key := range []string{"a/b", "a b", "a+b", "100%", "%2F", "?x=1", "#h", "🐢", "ğ\"'<>", `a\b`, "..", ".", "a/../b", "act", strings.Repeat("q", 255)} {
		u, err := url.Parse(l.Claim(key))
		if err != nil {
			t.Fatalf("%q: %v", key, err)
		}
		got, err := url.PathUnescape(strings.TrimPrefix((&url.URL{}).ResolveReference(u).EscapedPath(), "/ops/claims/"))
		if u.Path == "/ops/claims" {
			got = u.Query().Get("key")
		}
		if got != key || err != nil {
			t.Errorf("%q: %s arrives as %q, %v", key, u, got, err)
		}
	}
}
