package web_test

import (
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/schedule"
	"github.com/tekrar/tekrar/web"
)

var inputValue = regexp.MustCompile(`<input[^>]* name="([a-z_]+)" value="([^"]*)"`)

// formOf reads the edit form of a recurring job's page as a browser would send it.
func (x *site) formOf(id string) url.Values {
	x.t.Helper()
	_, form, ok := strings.Cut(x.get("/recurring/"+url.PathEscape(id)).wants(x.t, 200).body, `<form class="form"`)
	if !ok {
		x.t.Fatal("no form")
	}
	form, _, _ = strings.Cut(form, "</form>")
	values := url.Values{}
	for _, m := range inputValue.FindAllStringSubmatch(form, -1) {
		if m[1] != "paused" {
			values.Set(m[1], m[2])
		}
	}
	if strings.Contains(form, `name="paused" value="1" checked`) {
		values.Set("paused", "1")
	}
	for _, m := range regexp.MustCompile(`<option value="([a-z_]+)" selected>`).FindAllStringSubmatch(form, -1) {
		values.Set(map[bool]string{true: "overlap", false: "misfire"}[values.Has("misfire")], m[1])
	}
	if _, args, ok := strings.Cut(form, `<textarea`); ok {
		_, args, _ = strings.Cut(args, ">")
		args, _, _ = strings.Cut(args, "<")
		values.Set("args", strings.ReplaceAll(args, "&#34;", `"`))
	}
	return values
}

// chooses sends a language and a zone with every request from now on.
func (x *site) chooses(language, zone string) {
	x.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		x.t.Fatal(err)
	}
	jar.SetCookies(&url.URL{Scheme: "http", Host: x.host, Path: "/"}, []*http.Cookie{{Name: "tekrar_language", Value: language}, {Name: "tekrar_zone", Value: zone}})
	x.http.Jar = jar
}

func TestCreateRecurring(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	form := url.Values{"new": {"1"}, "id": {" yearly "}, "kind": {"note"}, "spec": {"0  9 * * mon"}, "zone": {"America/New_York"}, "misfire": {"run_all"}, "overlap": {"queue_one"},
		"start": {"2030-01-01"}, "end": {"2031-01-01T00:00:00+03:00"}, "args": {`{"text":"x","n":9007199254740993123}`}, "paused": {"1"}, "do": {"preview"}}
	before := x.picture()
	a := x.post("/recurring-save", form).wants(t, 200, "At 09:00 on Monday, America/New_York time, from 2030-01-01 00:00:00 -05:00, until 2030-12-31 16:00:00 -05:00", "2030-01-07 14:00:00 UTC", "2030-01-07 09:00:00 EST", "2030-02-04 14:00:00 UTC", "Nothing is saved yet", `value="yearly"`)
	if n := strings.Count(a.body, " EST"); n != 5 {
		t.Errorf("%d fires, want 5", n)
	}
	if after := x.picture(); after != before {
		t.Errorf("a preview changed something: %s, then %s", before, after)
	}
	form.Set("do", "save")
	if to := x.post("/recurring-save", form).wants(t, 303).Header.Get("Location"); to != "/recurring/yearly" {
		t.Errorf("sent to %q", to)
	}
	r := x.recurring("yearly")
	if r.Kind != "note" || r.Spec != "0 9 * * mon" || r.Zone != "America/New_York" || r.Misfire != "run_all" || r.Overlap != "queue_one" || r.PausedBy != "local" || r.Queue != "default" ||
		!r.StartAt.Equal(time.Date(2030, 1, 1, 5, 0, 0, 0, time.UTC)) || !r.EndAt.Equal(time.Date(2030, 12, 31, 21, 0, 0, 0, time.UTC)) || !strings.Contains(string(r.Args), "9007199254740993123") {
		t.Errorf("stored %+v", r)
	}
	x.post("/recurring-save", form).wants(t, 400, "is taken by another recurring job", `value="0  9 * * mon"`)
	x.post("/recurring-act", url.Values{"do": {"remove"}, "id": {"yearly"}}).wants(t, 303)
	x.post("/recurring-save", form).wants(t, 400, "belongs to a removed recurring job")
	if got := x.audited("yearly"); !slices.Equal(got, []string{"local: save recurring", "local: remove recurring"}) {
		t.Errorf("audit: %q", got)
	}
}

// A form that is saved as it came changes nothing; one that is edited changes only that.
func TestEditRecurring(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	start := time.Now().Add(-time.Hour).UTC().Truncate(time.Microsecond)
	policy := jobs.RetryPolicy{MaxRetries: 3, Delays: []time.Duration{2 * time.Second, 4 * time.Second}}
	x.schedule(jobs.RecurringSpec{ID: "rates", Spec: "@every 90m", Zone: "Europe/Istanbul", Args: json.RawMessage(`{"text":"<&>","n":9007199254740993123}`), Queue: "slow", Priority: 2, Misfire: schedule.Skip,
		Overlap: jobs.OverlapSkip, Retry: &policy, Timeout: 1500 * time.Millisecond, Start: start, End: start.Add(90 * 24 * time.Hour)})
	was := x.recurring("rates")
	form := x.formOf("rates")
	form.Set("args", strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(form.Get("args")))
	form.Set("do", "save")
	x.post("/recurring-save", form).wants(t, 303)
	is := x.recurring("rates")
	same := func() {
		t.Helper()
		if is.Spec != was.Spec || is.Zone != was.Zone || is.Queue != was.Queue || is.Priority != was.Priority || is.Misfire != was.Misfire || is.Overlap != was.Overlap || *is.TimeoutMS != *was.TimeoutMS ||
			string(is.Args) != string(was.Args) || string(is.Policy) != string(was.Policy) || !is.StartAt.Equal(*was.StartAt) || !is.EndAt.Equal(*was.EndAt) || !is.CreatedAt.Equal(was.CreatedAt) {
			t.Errorf("was %+v\n is %+v", was, is)
		}
	}
	same()
	if !is.NextRun.Equal(*was.NextRun) || is.PausedAt != nil {
		t.Errorf("next fire was %v, is %v", was.NextRun, is.NextRun)
	}
	// The page is older than what is stored now: said once, and kept as typed.
	form.Set("spec", "@every 7h")
	form.Set("paused", "1")
	a := x.post("/recurring-save", form).wants(t, 409, "changed meanwhile", `value="@every 7h"`)
	_, seen, _ := strings.Cut(a.body, `name="seen" value="`)
	seen, _, _ = strings.Cut(seen, `"`)
	form.Set("seen", seen)
	form.Set("do", "preview")
	x.post("/recurring-save", form).wants(t, 200, "Every 7 hours", start.Add(7*time.Hour).Format("2006-01-02 15:04:05"), `name="paused" value="1" checked`)
	form.Set("do", "save")
	x.post("/recurring-save", form).wants(t, 303)
	is = x.recurring("rates")
	if is.PausedBy != "local" || is.Spec != "@every 7h0m0s" {
		t.Errorf("stored %+v", is)
	}
	is.Spec = was.Spec
	same()
	// Somebody resumes it meanwhile: a form whose tick was not touched leaves that alone.
	form = x.formOf("rates")
	x.post("/recurring-act", url.Values{"do": {"resume"}, "id": {"rates"}}).wants(t, 303)
	form.Set("seen", x.formOf("rates").Get("seen"))
	form.Set("do", "save")
	x.post("/recurring-save", form).wants(t, 303)
	if x.recurring("rates").PausedAt != nil {
		t.Error("a tick that nobody touched paused it")
	}
	want := []string{"ada: save recurring", "local: save recurring", "local: save recurring", "local: pause recurring", "local: resume recurring", "local: save recurring"}
	if got := x.audited("rates"); !slices.Equal(got, want) {
		t.Errorf("audit: %q, want %q", got, want)
	}
}

// Start and end are times of the schedule's zone wherever its form or its page says
// them, whatever zone the reader chose, in the hour that comes twice as well.
func TestLimitsAreInTheSchedulesZone(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	x.chooses("tr", "Asia/Tokyo")
	form := url.Values{"new": {"1"}, "id": {"berlin"}, "kind": {"note"}, "spec": {"0 9 * * *"}, "zone": {"Europe/Berlin"}, "misfire": {"skip"}, "overlap": {"skip"},
		"start": {"2030-10-27 02:30"}, "end": {"2030-10-27 02:30 +01:00"}, "args": {"{}"}, "do": {"save"}}
	x.post("/recurring-save", form).wants(t, 400, `value="2030-10-27 02:30"`, `value="2030-10-27 02:30 +01:00"`, `id="err-end"`)
	form.Set("spec", "45 * * * *")
	form.Set("do", "preview")
	x.post("/recurring-save", form).wants(t, 200, "Her saatin 45. dakikasında, Europe/Berlin saatiyle, başlangıç: 27.10.2030 02:30:00 +02:00, bitiş: 27.10.2030 02:30:00 +01:00",
		"27.10.2030 09:45:00 +09:00", "27.10.2030 02:45:00 CEST", `value="2030-10-27 02:30"`)
	form.Set("do", "save")
	x.post("/recurring-save", form).wants(t, 303)
	was := x.recurring("berlin")
	first := time.Date(2030, 10, 27, 0, 30, 0, 0, time.UTC)
	if !was.StartAt.Equal(first) || !was.EndAt.Equal(first.Add(time.Hour)) {
		t.Errorf("from %v until %v", was.StartAt, was.EndAt)
	}
	x.get("/recurring/berlin").wants(t, 200, "27.10.2030 09:30:00 +09:00", "27.10.2030 02:30:00 CEST", "27.10.2030 02:30:00 CET")
	form = x.formOf("berlin")
	if form.Get("start") != "2030-10-27 02:30:00" || form.Get("end") != "2030-10-27 02:30:00 +01:00" {
		t.Errorf("the form says %q and %q", form.Get("start"), form.Get("end"))
	}
	form.Set("do", "save")
	x.post("/recurring-save", form).wants(t, 303)
	if is := x.recurring("berlin"); !is.StartAt.Equal(*was.StartAt) || !is.EndAt.Equal(*was.EndAt) || !is.NextRun.Equal(*was.NextRun) {
		t.Errorf("was from %v until %v, is from %v until %v", was.StartAt, was.EndAt, is.StartAt, is.EndAt)
	}
	// With the zone, the limits move as the clock that they are read from.
	form = x.formOf("berlin")
	form.Set("zone", "")
	form.Set("end", "")
	form.Set("do", "save")
	x.post("/recurring-save", form).wants(t, 303)
	if is := x.recurring("berlin"); !is.StartAt.Equal(time.Date(2030, 10, 27, 2, 30, 0, 0, time.UTC)) || is.EndAt != nil {
		t.Errorf("from %v until %v", is.StartAt, is.EndAt)
	}
}

// An interval without a start counts from when it was first stored, and so does what
// the form promises.
func TestPreviewOfAnIntervalIsTheTruth(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	x.schedule(jobs.RecurringSpec{ID: "tick", Spec: "@every 10h"})
	x.past(`update tekrar.recurring set created_at = created_at - interval '3 hours' where id = 'tick'`)
	form := x.formOf("tick")
	form.Set("spec", "@every 11h")
	form.Set("do", "preview")
	promised := x.post("/recurring-save", form).wants(t, 200)
	form.Set("do", "save")
	x.post("/recurring-save", form).wants(t, 303)
	promised.wants(t, 200, "<li><span class=\"nw\">"+x.recurring("tick").NextRun.Format("2006-01-02 15:04:05.999999")+" UTC")
}

// What is large or removed can be edited all the same.
func TestEditLargeAndRemoved(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	large := json.RawMessage(`{"text":"` + strings.Repeat("x", 70<<10) + `"}`)
	x.schedule(jobs.RecurringSpec{ID: "large", Args: large})
	x.post("/recurring-act", url.Values{"do": {"remove"}, "id": {"large"}}).wants(t, 303)
	form := x.formOf("large")
	if form.Has("args") {
		t.Fatal("a form with 70 KB of args")
	}
	form.Set("zone", "Europe/Istanbul")
	form.Set("do", "save")
	x.post("/recurring-save", form).wants(t, 303)
	if r := x.recurring("large"); len(r.Args) < len(large) || r.Zone != "Europe/Istanbul" || r.RemovedAt != nil || r.NextRun == nil {
		t.Errorf("%d bytes of args, zone %s, removed %v, next %v", len(r.Args), r.Zone, r.RemovedAt, r.NextRun)
	}
}

// Bad input of issue 4: refused at its field, with everything typed kept.
func TestBadRecurringForms(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	x.schedule(jobs.RecurringSpec{ID: "stands"})
	before := x.picture()
	for _, c := range []struct{ field, value, text string }{
		{"id", "", "1 to 200 characters"}, {"id", strings.Repeat("i", 201), "at most 200"}, {"id", "a\nb", "control character"}, {"id", "stands", "is taken"},
		{"id", "\xff", "is not valid UTF-8"}, {"id", "a\x00b", "contains a NUL"}, {"id", strings.Repeat("i", 9000), "the limit is 8,192"},
		{"kind", "", "1 to 200 characters"}, {"kind", "a\tb", "control character"}, {"queue", strings.Repeat("q", 201), "at most 200"},
		{"spec", "", "has 0 fields"}, {"spec", "0 0 30 2 *", "never fires: February has no day 30"}, {"spec", "* * * * * * *", "has 7 fields"}, {"spec", "60 * * * *", "minute"},
		{"spec", "*/0 * * * *", "minute"}, {"spec", "1-99999999999999999999 * * * *", "minute"}, {"spec", "٣ * * * *", "ASCII"}, {"spec", strings.Repeat("1,", 5000) + "1 * * * *", "the limit is 8,192"},
		{"spec", strings.Repeat("1,", 1000) + "1 * * * *", "at most 1,000"}, {"spec", "@every 0s", "outside 1.00 s to 366 d"}, {"spec", "@every -5m", "outside 1.00 s"}, {"spec", "@never", "is no macro"},
		{"zone", "Mars/Phobos", "not in the time zone database"}, {"zone", "../etc/passwd", "not in the time zone database"}, {"zone", "Local", "differs between servers"},
		{"misfire", "twice", "none of run_once"}, {"overlap", "twice", "none of allow"}, {"start", "tomorrow", "is no time such as"}, {"start", "0001-01-01", "is outside the years 1 to 9999"}, {"start", "0001-01-01 UTC", "is no time such as"},
		{"end", "2019-12-31", "is before the start"}, {"end", "31.12.2030", "is no time such as"},
		{"args", "{", "not valid JSON"}, {"args", `[1]`, "is not a JSON object"}, {"args", `{"a":1}x`, "text after the JSON object"}, {"args", `{"a":{"b":1e99999}}`, "at $.a.b: "}, {"args", strings.Repeat("x", 65<<10), "the limit is 65,536"},
	} {
		form := url.Values{"new": {"1"}, "id": {"kept-id"}, "kind": {"kept-kind"}, "spec": {"5 4 * * *"}, "zone": {"Asia/Tokyo"}, "misfire": {"skip"}, "overlap": {"skip"},
			"start": {"2020-01-01"}, "end": {"2099-01-01"}, "queue": {"kept-queue"}, "args": {`{"kept":1}`}, "do": {"save"}}
		form.Set(c.field, c.value)
		a := x.post("/recurring-save", form)
		if a.StatusCode != 400 || !strings.Contains(a.body, `id="err-`+c.field+`"`) || !strings.Contains(a.body, c.text) {
			t.Errorf("%s %.40q: status %d, %q is not in\n%s", c.field, c.value, a.StatusCode, c.text, clip(a.body))
		}
		for field, kept := range map[string]string{"id": "kept-id", "kind": "kept-kind", "spec": "5 4 * * *", "zone": "Asia/Tokyo", "queue": "kept-queue", "start": "2020-01-01", "end": "2099-01-01"} {
			if field != c.field && !strings.Contains(a.body, `value="`+kept+`"`) {
				t.Errorf("%s %.40q: %s was not kept", c.field, c.value, field)
			}
		}
	}
	both := x.post("/recurring-save", url.Values{"new": {"1"}, "do": {"save"}, "spec": {"* * * * *"}, "args": {"{"}}).wants(t, 400, `id="err-id"`, `id="err-kind"`, `id="err-args"`, "Look at: Id, Kind and Args.")
	if strings.Contains(both.body, `id="err-spec"`) {
		t.Error("a good expression is refused")
	}
	x.post("/recurring-save", url.Values{"do": {"drop"}}).wants(t, 400, "preview, save")
	x.post("/recurring-save", url.Values{"do": {"save"}, "id": {"none"}, "spec": {"* * * * *"}}).wants(t, 404)
	x.post("/recurring-save", url.Values{"do": {"save"}, "id": {"\xff"}}).wants(t, 404)
	if after := x.picture(); after != before {
		t.Errorf("bad forms changed something: %s, then %s", before, after)
	}
	if s := x.log.String(); strings.Contains(s, "request failed") {
		t.Errorf("log: %s", s)
	}
}
