package web_test

import (
	"context"
	"errors"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/web"
)

// LST-10: the Retrying tile opens exactly the jobs that it counts, beside others that
// are scheduled, and so do an action on all of them, a search in them, and the API.
func TestRetryingOpensItsJobs(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	jobs.Handle(x.client, func(context.Context, *jobs.Job[parcel]) error { return errors.New("nobody there") }, jobs.Retry(jobs.RetryPolicy{MaxRetries: 4, Delays: []time.Duration{time.Hour}}))
	for range 3 {
		if _, err := x.client.Enqueue(t.Context(), parcel{}); err != nil {
			t.Fatal(err)
		}
	}
	x.enqueue(note{}, jobs.In(time.Hour))
	x.enqueue(note{}, jobs.In(time.Minute))
	x.work()
	x.until("three wait for a retry", func() bool {
		n, _, err := x.db.Retrying(t.Context())
		return err == nil && n == 3
	})
	tile := regexp.MustCompile(`href="(/jobs\?[^"]*cause=retry[^"]*)"`).FindStringSubmatch(x.get("/").wants(t, 200).body)
	if tile == nil {
		t.Fatal("the overview leads to no list of retries")
	}
	for path, want := range map[string]int{
		html.UnescapeString(tile[1]): 3, "/jobs?state=scheduled&cause=asked": 2, "/jobs?state=scheduled&cause=snooze": 0, "/jobs?state=scheduled": 5,
		"/jobs?state=scheduled&cause=retry&kind=parcel": 3, "/jobs?state=scheduled&cause=retry&kind=note": 0,
		"/jobs?state=scheduled&cause=retry&q=attempt%3A1": 3, "/jobs?state=scheduled&cause=asked&q=attempt%3A1": 0,
	} {
		if got := strings.Count(x.get(path).wants(t, 200).body, `id="job-row-`); got != want {
			t.Errorf("%s: %d rows, want %d", path, got, want)
		}
	}
	x.get("/jobs?state=scheduled&cause=retry").wants(t, 200, "Only jobs that wait for a retry.", "<b>3</b>", `name="cause" value="retry"`)
	x.post("/bulk/confirm", url.Values{"do": {"delete"}, "state": {"scheduled"}, "cause": {"retry"}}).wants(t, 200, "Delete all 3 jobs?", "scheduled jobs that wait for a retry")
	if got := strings.Count(x.get("/api/jobs?state=scheduled&cause=retry").wants(t, 200).body, `"kind":"parcel"`); got != 3 {
		t.Errorf("the API lists %d", got)
	}
	if got := strings.Count(x.get("/jobs/export?format=csv&state=scheduled&cause=retry").wants(t, 200).body, "parcel"); got != 3 {
		t.Errorf("%d are downloaded", got)
	}
	x.get("/jobs?state=scheduled&cause=why").wants(t, 400, "asked, retry, snooze")
	x.get("/jobs?state=failed&cause=retry").wants(t, 400, "state=scheduled")
	// What narrows the jobs of one state only is not taken along to another's.
	for _, list := range []string{"/jobs?state=scheduled&cause=retry&kind=parcel", "/jobs?state=failed&kind=parcel&group=00c0ffee0000000a"} {
		_, tabs, _ := strings.Cut(x.get(list).wants(t, 200).body, `<nav class="tabs`)
		tabs, _, _ = strings.Cut(tabs, "</nav>")
		links := regexp.MustCompile(`href="(/jobs\?[^"]+)"`).FindAllStringSubmatch(tabs, -1)
		if len(links) < 6 {
			t.Fatalf("%s: %d tabs", list, len(links))
		}
		for _, link := range links {
			x.get(html.UnescapeString(link[1])).wants(t, 200, `value="parcel"`)
		}
	}
}
