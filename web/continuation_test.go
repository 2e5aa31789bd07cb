package web_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/web"
)

// A continuation on screen: the tab that is there only when needed, both pages'
// links, and what a person can do with it.
func TestContinuationsOnScreen(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	parent := x.enqueue(note{})
	page := func(path string) answer { t.Helper(); return x.do("GET", path, nil, nil).wants(t, 200) }
	const tab = `href="/jobs?state=awaiting"`
	if strings.Contains(page("/jobs").body, tab) {
		t.Error("an empty tab is shown")
	}
	page("/jobs?state=awaiting").wants(t, 200, tab)
	child, second := x.enqueue(note{}, jobs.After(parent, jobs.OnSuccess)), x.enqueue(note{}, jobs.After(parent, jobs.OnFailure))
	page("/jobs").wants(t, 200, tab)
	page("/jobs?state=awaiting").wants(t, 200, fmt.Sprintf("Waits for job %d to succeed", parent), fmt.Sprintf("/jobs/%d", child))
	page(fmt.Sprintf("/jobs/%d", child)).wants(t, 200, "Waits for", fmt.Sprintf(`href="/jobs/%d"`, parent), "Run now: attempt 1", "starts this job when it succeeds")
	page(fmt.Sprintf("/jobs/%d", parent)).wants(t, 200, fmt.Sprintf(`href="/jobs/%d"`, child), fmt.Sprintf(`href="/jobs/%d"`, second), "starts when this job fails or is deleted")
	act := func(do string, id int64, seen, want store.State) {
		t.Helper()
		x.post("/jobs/act", url.Values{"do": {do}, "target": {targetOf(id, seen)}}).wants(t, 303)
		if got := x.state(id); got != want {
			t.Errorf("%s: job is %s, want %s", do, got, want)
		}
	}
	x.post("/jobs/confirm", url.Values{"do": {"delete"}, "target": {targetOf(child, store.Awaiting)}}).wants(t, 200, "Delete 1 job?")
	act("delete", child, store.Awaiting, store.Deleted)
	act("restore", child, store.Deleted, store.Enqueued)
	act("once", second, store.Awaiting, store.Enqueued)
	x.do("GET", "/jobs?state=awaiting&after=x", nil, nil).wants(t, 400)
}
