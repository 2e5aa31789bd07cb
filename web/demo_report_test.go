package web_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/web"
)

func TestDemoReports(t *testing.T) {
	t.Parallel()
	var fail error
	reports := func(context.Context) ([]web.Report, error) {
		return []web.Report{
			{Title: "Counted", Lead: "At the provider.", Head: []string{"Ended", "Verdict"}, Rows: []web.ReportRow{
				{JobID: 42, Cells: []string{"09:15:00", "one mail <b>"}}, {Bad: true, Cells: []string{"09:14:00", "two mails"}}}},
			{Title: "Silent", Lead: "No request yet.", Head: []string{"Nobody sees this"}},
		}, fail
	}
	x := open(t, settings{prefix: "/ops", options: web.Options{Access: web.None(), Demo: &web.Demo{Cards: demo.Cards, Reports: reports}}})
	a := x.get("/demo").wants(t, 200, "Counted", "At the provider.", "one mail &lt;b&gt;", "two mails", `href="/ops/jobs/42"`, "No request yet.", "Files a note.")
	if strings.Contains(a.body, "Nobody sees this") || strings.Count(a.body, `err">`) != 2 {
		t.Errorf("%s", clip(a.body))
	}
	fail = errors.New("s3cret-internal")
	if a = x.get("/demo").wants(t, 200, "Files a note."); strings.Contains(a.body, "s3cret") || strings.Contains(a.body, "Counted") {
		t.Errorf("%s", clip(a.body))
	}
}
