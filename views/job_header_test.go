package views_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/views/fixtures"
)

var (
	headAttempt = regexp.MustCompile(`<b>attempt (\d+)`)
	tlRow       = regexp.MustCompile(`class="tl-([a-z]+)">[^\x00]*?<p class="tl-t"><b>[^<]*</b> *<span>[^<]*?attempt (\d+)`)
)

// The attempt in the header of a job is the one that its history ends with, wherever
// a job's page is drawn.
func TestHeaderAndHistoryNameOneAttempt(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, p := range fixtures.Pages() {
		_, head, ok := strings.Cut(render(t, p.Draw(layout())), `id="job-header"`)
		if !ok {
			continue
		}
		_, list, ok := strings.Cut(head, `<ol class="tl">`)
		above := headAttempt.FindStringSubmatch(head)
		rows := tlRow.FindAllStringSubmatch(list, 2)
		for len(rows) > 0 && rows[0][1] == "late" {
			rows = rows[1:]
		}
		if !ok || above == nil || len(rows) == 0 { // waits for another job, or has no history
			continue
		}
		if seen++; above[1] != rows[0][2] {
			t.Errorf("%s: attempt %s above attempt %s", p.Name, above[1], rows[0][2])
		}
	}
	if seen < 15 {
		t.Errorf("only %d jobs compared", seen)
	}
}
