package web_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/web"
)

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)"`)

// copyForm reads the form of a page for copies as a browser would send it.
func copyForm(t *testing.T, a answer) url.Values {
	t.Helper()
	main := a.body[strings.Index(a.body, "<main"):]
	form := url.Values{}
	for _, m := range append(hiddenField.FindAllStringSubmatch(main, -1), inputValue.FindAllStringSubmatch(main, -1)...) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	if _, text, ok := strings.Cut(main, "<textarea"); ok {
		_, text, _ = strings.Cut(text, ">")
		text, _, _ = strings.Cut(text, "</textarea>")
		form.Set("args", strings.ReplaceAll(html.UnescapeString(text), "\n", "\r\n"))
	}
	return form
}

func with(form url.Values, pairs ...string) url.Values {
	out := url.Values{}
	for name, values := range form {
		out[name] = slices.Clone(values)
	}
	for i := 0; i < len(pairs); i += 2 {
		out.Set(pairs[i], pairs[i+1])
	}
	return out
}

func copyPath(id int64) string { return fmt.Sprintf("/jobs/%d/copy", id) }

func (x *site) args(id int64) string {
	x.t.Helper()
	d, err := x.db.Job(x.t.Context(), id, 10, 0)
	if err != nil {
		x.t.Fatal(err)
	}
	return string(d.Args)
}

// sentTo is the job to whose page the answer leads.
func sentTo(t *testing.T, a answer) (id int64) {
	t.Helper()
	if _, err := fmt.Sscanf(a.Header.Get("Location"), "/jobs/%d", &id); err != nil {
		t.Fatalf("sent to %q", a.Header.Get("Location"))
	}
	return id
}

// LST-19: the chosen delay counts. ARG-03: every digit stays.
func TestCopyWithEditedArgs(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	policy := jobs.RetryPolicy{MaxRetries: 2, Delays: []time.Duration{7 * time.Second}}
	made, err := x.client.EnqueueRaw(t.Context(), "note", json.RawMessage(`{"text":"<b>&amp;","n":1970670598291982290,"list":[1,2.50]}`),
		jobs.Queue("a/b ?x=1"), jobs.Priority(3), jobs.Tags("t1", "t 2"), jobs.WithRetry(policy), jobs.WithTimeout(1500*time.Millisecond), jobs.Unique("only", jobs.UntilFinished))
	if err != nil {
		t.Fatal(err)
	}
	id := made.ID
	path := copyPath(id)
	x.get(fmt.Sprintf("/jobs/%d", id)).wants(t, 200, `href="`+path+`"`, fmt.Sprintf(`href="/api/jobs/%d"`, id))
	before := x.picture()
	form := copyForm(t, x.get(path).wants(t, 200, "Copy of job", "1970670598291982290"))
	x.post(path, with(form, "do", "check")).wants(t, 200, "The args are the same", "Enqueue the unedited copy", "still enqueued and will do its work as well", "has not run yet")
	form.Set("args", strings.Replace(form.Get("args"), "982290", "982291", 1))
	form.Set("delay", "90m")
	asked := x.post(path, with(form, "do", "check")).wants(t, 200,
		`<del>-   &#34;n&#34;: 1970670598291982290,</del>`, `<ins>+   &#34;n&#34;: 1970670598291982291,</ins>`, `&lt;b&gt;&amp;amp;`, "starts in 1 h 30 min")
	if strings.Contains(asked.body, "<b>&") {
		t.Error("args are HTML")
	}
	sure := copyForm(t, asked)
	x.post(path, with(sure, "do", "edit")).wants(t, 200, "<textarea", "1970670598291982291", `value="90m"`, `value="a/b ?x=1"`)
	if after := x.picture(); after != before {
		t.Errorf("looking changed something: %s, then %s", before, after)
	}
	done := x.post(path, with(sure, "do", "enqueue")).wants(t, 303)
	copied := sentTo(t, done)
	if got := x.args(copied); got != `{"n": 1970670598291982291, "list": [1, 2.50], "text": "<b>&amp;"}` {
		t.Errorf("args %s", got)
	}
	x.get(fmt.Sprintf("/jobs/%d", copied)).wants(t, 200, "Copy of", fmt.Sprintf(`href="/jobs/%d">job %d</a>`, id, id), fmt.Sprintf("Copied from job %d", id), "by local")
	was, err1 := x.db.Original(t.Context(), x.db, id)
	is, err2 := x.db.Original(t.Context(), x.db, copied)
	if err1 != nil || err2 != nil || is.Kind != was.Kind || is.Queue != was.Queue || is.Priority != 3 || string(is.Policy) != string(was.Policy) || is.Timeout != 1500*time.Millisecond ||
		!slices.Equal(is.Tags, was.Tags) || is.State != store.Scheduled {
		t.Errorf("was %+v\n is %+v, %v, %v", was, is, err1, err2)
	}
	d, err := x.db.Job(t.Context(), copied, 10, 0)
	if err != nil || d.RunAt == nil || d.RunAt.Sub(d.CreatedAt).Round(time.Second) != 90*time.Minute || d.History[0].Actor != "local" {
		t.Errorf("runs at %v, %v, created %v, history %+v", d.RunAt, err, d.CreatedAt, d.History)
	}
	rows, _, err := x.db.AuditRows(t.Context(), store.AuditFilter{})
	if err != nil || len(rows) != 1 || rows[0].Actor != "local" || rows[0].Action != "enqueue copy" || *rows[0].JobID != copied || !strings.Contains(string(rows[0].Detail), fmt.Sprintf(`"copied_from": "%d"`, id)) {
		t.Errorf("audit %+v, %v", rows, err)
	}
	x.get("/audit").wants(t, 200, "copied from", fmt.Sprintf(`href="/jobs/%d"`, id))
	// A press that came twice, and one after going back.
	if again := sentTo(t, x.post(path, with(sure, "do", "enqueue")).wants(t, 303)); again != copied {
		t.Errorf("the same press made job %d, then %d", copied, again)
	}
	x.post(path, with(sure, "do", "enqueue", "delay", "1m")).wants(t, 400, "Field once")
	if n := x.count(`select count(*) from tekrar.jobs`); n != 2 {
		t.Errorf("%d jobs", n)
	}
	if err := x.db.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// ARG-13: copies that are made at the same time have each its own args.
func TestCopiesAtOnce(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	id := x.enqueue(note{Text: "of all"})
	sure := copyForm(t, x.post(copyPath(id), with(copyForm(t, x.get(copyPath(id))), "do", "check")).wants(t, 200))
	var all sync.WaitGroup
	const n = 24
	for i := range n {
		all.Go(func() {
			text := fmt.Sprintf(`{"text":"%03d"}`, i/2)
			form := with(sure, "do", "enqueue", "once", fmt.Sprintf("ABCDEFGHIJKLMNOPQRSTUVWX%c%c", 'A'+i/2%26, 'A'+i/2/26), "args", text)
			for x.post(copyPath(id), form).StatusCode == 409 { // its twin commits just now
			}
		})
	}
	all.Wait()
	if got, distinct := x.count(`select count(*) from tekrar.jobs`), x.count(`select count(distinct args) from tekrar.jobs`); got != n/2+1 || distinct != n/2+1 {
		t.Errorf("%d jobs with %d args, want %d", got, distinct, n/2+1)
	}
}

// From every state, also one that ended.
func TestCopyFromEveryState(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	x.work()
	succeeded := x.enqueue(note{Text: "fine"})
	x.until("succeeded", func() bool { return x.state(succeeded) == store.Succeeded })
	deleted := x.enqueue(note{}, jobs.Queue("nobody's"))
	if _, err := x.client.Delete(t.Context(), "ada", jobs.Target{ID: deleted, Expected: store.Enqueued}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []int64{succeeded, x.failed("badly"), deleted, x.enqueue(note{}, jobs.In(time.Hour)), x.enqueue(note{}, jobs.After(deleted, jobs.OnFailure))} {
		asked := x.post(copyPath(id), with(copyForm(t, x.get(copyPath(id)).wants(t, 200)), "do", "check")).wants(t, 200)
		copied := sentTo(t, x.post(copyPath(id), with(copyForm(t, asked), "do", "enqueue")).wants(t, 303))
		if x.args(copied) != x.args(id) {
			t.Errorf("job %d: %s, its copy %s", id, x.args(id), x.args(copied))
		}
	}
	x.post(copyPath(succeeded), with(copyForm(t, x.get(copyPath(succeeded))), "do", "check")).wants(t, 200, "no idempotency key guards what it does", "1 attempt did")
	if err := x.db.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// Bad input names its field and limit, and everything typed is kept.
func TestBadCopies(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}, client: jobs.Config{MaxArgs: 4000}})
	id := x.enqueue(note{Text: "stands"})
	good := copyForm(t, x.get(copyPath(id)))
	before := x.picture()
	for _, c := range []struct{ field, value, text string }{
		{"args", "", "is empty, not a JSON object"}, {"args", "[1]", "is not a JSON object"}, {"args", `{"a":`, "not valid JSON"}, {"args", `{"a":1}x`, "text after the JSON object"},
		{"args", `{"a":{"b":1e99999}}`, "at $.a.b: "}, {"args", `{"s":"a\u0000b"}`, "at $.s: "}, {"args", `{"s":"\ud800"}`, "at $.s: "}, {"args", "{\"s\":\"\xff\"}", "is not valid UTF-8"},
		{"args", "{\"s\":\"\x00\"}", "contains a NUL"}, {"args", `{"a":` + strings.Repeat("[", 101) + strings.Repeat("]", 101) + `}`, "deeper than 100"}, {"args", `{"a":"` + strings.Repeat("x", 4000) + `"}`, "4,000"},
		{"args", strings.Repeat("x", 65<<10), "the limit is 65,536"}, {"args", `{"password":"•••"}`, "stands for a hidden value"},
		{"queue", strings.Repeat("q", 201), "at most 200"}, {"queue", "a\tb", "control character"}, {"queue", "\xff", "is not valid UTF-8"},
		{"delay", "soon", "no delay such as"}, {"delay", "-1", "outside of 0 to 720 hours"}, {"delay", "NaN", "outside of"}, {"delay", "721h", "outside of"}, {"delay", "1e300", "outside of"}, {"delay", "-5m", "outside of"},
	} {
		for _, do := range []string{"check", "enqueue"} {
			form := with(good, "queue", "kept-queue", "delay", "77s", "args", `{"kept":1}`, "once", strings.Repeat("A", 26), "do", do)
			form.Set(c.field, c.value)
			a := x.post(copyPath(id), form)
			if a.StatusCode != 400 || !strings.Contains(a.body, `id="err-`+c.field+`"`) || !strings.Contains(a.body, c.text) {
				t.Errorf("%s %.40q: status %d, %q is not in\n%s", c.field, c.value, a.StatusCode, c.text, clip(a.body))
			}
			for field, kept := range map[string]string{"queue": `value="kept-queue"`, "delay": `value="77s"`, "args": `{&#34;kept&#34;:1}</textarea>`} {
				if field != c.field && !strings.Contains(a.body, kept) {
					t.Errorf("%s %.40q: %s was not kept", c.field, c.value, field)
				}
			}
		}
	}
	x.post(copyPath(id), with(good, "args", "{", "queue", "a\tb", "delay", "soon", "do", "check")).wants(t, 400, "Look at: Args, Queue and Delay.")
	x.post(copyPath(id), with(good, "do", "drop")).wants(t, 400, "check edit enqueue")
	x.post(copyPath(id), with(good, "do", "check", "state", "lost")).wants(t, 400, "Field state")
	x.post(copyPath(id), with(good, "do", "enqueue", "once", "../x")).wants(t, 400, "Field once")
	for _, none := range []string{"/jobs/99999/copy", "/jobs/x/copy", "/jobs/-1/copy", "/jobs/99999999999999999999/copy"} {
		x.get(none).wants(t, 404)
		x.post(none, with(good, "do", "enqueue", "once", strings.Repeat("A", 26))).wants(t, 404)
	}
	x.get(copyPath(id)+"?args=1").wants(t, 400, "Unknown filter")
	if after := x.picture(); after != before {
		t.Errorf("bad forms changed something: %s, then %s", before, after)
	}
	if s := x.log.String(); strings.Contains(s, "request failed") {
		t.Errorf("log: %s", s)
	}
}

// Hidden args leave neither as themselves nor as their mask: the copy takes what is
// stored, and takes nothing that was typed.
func TestCopyOfHiddenArgs(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	e, err := x.client.Enqueue(t.Context(), secretive{Token: "canary", N: 7})
	if err != nil {
		t.Fatal(err)
	}
	path := copyPath(e.ID)
	a := x.get(path).wants(t, 200, "hidden from you", "•••")
	form := copyForm(t, a)
	asked := x.post(path, with(form, "do", "check")).wants(t, 200, "hidden values included", "Enqueue the unedited copy")
	edited := x.post(path, with(form, "do", "check", "args", `{"token":"•••","n":8}`)).wants(t, 400, "cannot be edited here")
	x.post(path, with(copyForm(t, asked), "do", "enqueue", "args", `{"token":"•••","n":8}`)).wants(t, 400, "cannot be edited here")
	for _, page := range []answer{a, asked, edited} {
		if strings.Contains(page.body, "canary") || strings.Contains(page.body, "<textarea") {
			t.Error("a page shows a hidden value, or offers to edit")
		}
	}
	copied := sentTo(t, x.post(path, with(copyForm(t, asked), "do", "enqueue")).wants(t, 303))
	if got := x.args(copied); got != x.args(e.ID) || !strings.Contains(got, "canary") {
		t.Errorf("args of the copy: %s", got)
	}
	large, err := x.client.EnqueueRaw(t.Context(), "note", json.RawMessage(`{"text":"`+strings.Repeat("x", 70<<10)+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	asked = x.post(copyPath(large.ID), with(copyForm(t, x.get(copyPath(large.ID)).wants(t, 200, "too large for a form")), "do", "check")).wants(t, 200)
	if copied = sentTo(t, x.post(copyPath(large.ID), with(copyForm(t, asked), "do", "enqueue")).wants(t, 303)); x.args(copied) != x.args(large.ID) {
		t.Error("the copy of large args differs")
	}
}

// A job that moved between the look and the press is not copied; a page says what it
// is now, with everything typed kept, and one that retention removed is gone.
func TestCopyOfAMovedJob(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	id := x.enqueue(note{Text: "moves"})
	form := with(copyForm(t, x.get(copyPath(id))), "args", `{"text":"edited"}`)
	sure := copyForm(t, x.post(copyPath(id), with(form, "do", "check")).wants(t, 200))
	if _, err := x.client.Delete(t.Context(), "ada", jobs.Target{ID: id, Expected: store.Enqueued}); err != nil {
		t.Fatal(err)
	}
	x.post(copyPath(id), with(form, "do", "check")).wants(t, 200, "was enqueued on your screen and is deleted now")
	before := x.picture()
	moved := x.post(copyPath(id), with(sure, "do", "enqueue")).wants(t, 409, "Nothing was enqueued", "was enqueued on your screen and is deleted now", "edited")
	if after := x.picture(); after != before {
		t.Errorf("a refused copy changed something: %s, then %s", before, after)
	}
	copied := sentTo(t, x.post(copyPath(id), with(copyForm(t, moved), "do", "enqueue")).wants(t, 303))
	if got := x.args(copied); got != `{"text": "edited"}` {
		t.Errorf("args %s", got)
	}
	x.past(`delete from tekrar.history where job_id = $1`, id)
	x.past(`delete from tekrar.jobs where id = $1`, id)
	x.get(fmt.Sprintf("/jobs/%d", copied)).wants(t, 200, "Copy of", "removed by retention")
	x.post(copyPath(id), with(copyForm(t, moved), "do", "enqueue")).wants(t, 404)
}

// What the design asks for: a warning when the key would change.
func TestCopyTellsOfKeys(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	id := x.enqueue(note{Text: "42"})
	x.claimed("mail:42", "done")
	x.past(`update tekrar.effect_claims set job_id = $1, attempt = 1, server = 1 where key = 'mail:42'`, id)
	form := copyForm(t, x.get(copyPath(id)))
	x.post(copyPath(id), with(form, "do", "check", "args", `{"text":"43"}`)).wants(t, 200, `href="/claims/mail:42"`, "The idempotency key would change: it holds $.text, which you edited.")
	same := x.post(copyPath(id), with(form, "do", "check", "args", `{"text":"42","fail":true}`)).wants(t, 200, "The key stays the same")
	if strings.Contains(same.body, "would change") {
		t.Error("warns of a key that stays")
	}
}

func TestNoCopyWhileReadOnly(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None(), ReadOnly: func() bool { return true }}})
	id := x.enqueue(note{})
	x.get(copyPath(id)).wants(t, 503, "takes no writes")
	x.post(copyPath(id), url.Values{"do": {"check"}, "state": {"enqueued"}, "args": {"{}"}}).wants(t, 503, "takes no writes")
	if a := x.get(fmt.Sprintf("/jobs/%d", id)).wants(t, 200); strings.Contains(a.body, "Enqueue a copy") {
		t.Error("a copy is offered")
	}
}

// The attempts of a job say which of them failed alike.
func TestAttemptsThatFailAlike(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	x.work()
	id := x.failed("this")
	if _, err := x.client.Requeue(t.Context(), "ada", jobs.KeepRetries, jobs.Target{ID: id, Expected: store.Failed}); err != nil {
		t.Fatal(err)
	}
	x.until("failed again", func() bool {
		return strings.Contains(x.get(fmt.Sprintf("/jobs/%d?tab=attempts", id)).body, "same error as attempt 1")
	})
}

// SEC-03, SEC-07: a viewer is neither shown the form nor obeyed, and no other site is.
func TestCopyNeedsAnOperator(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: byHeader()}})
	id := x.enqueue(note{})
	page := fmt.Sprintf("/jobs/%d", id)
	if a := x.do("GET", page, nil, headers{"X-Role": "viewer"}).wants(t, 200, "View as JSON"); strings.Contains(a.body, "Enqueue a copy") {
		t.Error("a viewer is offered a copy")
	}
	x.do("GET", page, nil, headers{"X-Role": "operator"}).wants(t, 200, "Enqueue a copy")
	before := x.picture()
	form := url.Values{"do": {"enqueue"}, "state": {"enqueued"}, "args": {"{}"}, "once": {strings.Repeat("A", 26)}}
	x.do("GET", copyPath(id), nil, headers{"X-Role": "viewer"}).wants(t, 403, "viewer")
	x.do("POST", copyPath(id), form, headers{"X-Role": "viewer", "Sec-Fetch-Site": "same-origin"}).wants(t, 403, "viewer")
	for _, h := range []headers{{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://evil.example"}, {}} {
		h["X-Role"] = "admin"
		x.do("POST", copyPath(id), form, h).wants(t, 403)
	}
	if a := x.do("GET", copyPath(id), nil, headers{"X-Role": "operator"}).wants(t, 200); a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("Cache-Control %q", a.Header.Get("Cache-Control"))
	}
	if after := x.picture(); after != before {
		t.Errorf("database before %s, after %s", before, after)
	}
	x.do("POST", copyPath(id), form, headers{"X-Role": "operator", "Sec-Fetch-Site": "same-origin"}).wants(t, 303)
	rows, _, err := x.db.AuditRows(t.Context(), store.AuditFilter{})
	if err != nil || len(rows) != 1 || rows[0].Actor != "eve" {
		t.Errorf("audit %+v, %v", rows, err)
	}
}
