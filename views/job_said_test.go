package views_test

import (
	"strings"
	"testing"

	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/views/fixtures"
)

// A finished job keeps no counters: a page that printed them would say 0.
func TestFinishedJobsShowNoCounters(t *testing.T) {
	t.Parallel()
	for s, want := range map[views.State]bool{views.Succeeded: false, views.Deleted: false, views.Failed: true, views.Scheduled: true} {
		text := render(t, views.JobPage(layout(), fixtures.Job(s)))
		if got := strings.Contains(text, "Retries used"); got != want {
			t.Errorf("%s: counters shown %v, want %v", s, got, want)
		}
	}
}

func TestJobPageShowsWhatTheHandlerSaid(t *testing.T) {
	t.Parallel()
	p := fixtures.Job(views.Succeeded)
	p.History[0].Result = `{"rates":34}`
	text := render(t, views.JobPage(layout(), p))
	for _, want := range []string{`<progress max="34" value="21"`, "21 of 34: lines imported", "34 lines in the invoice", "&#34;rates&#34;: 34", "month-end"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
