package main

import (
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/a-h/templ"

	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/views/fixtures"
)

// SCL-10: what a page weighs on the wire, compressed; a list of 50 rows is capped
// there, and the overview does not grow with the number of jobs.
func TestPageWeights(t *testing.T) {
	t.Parallel()
	named := map[string]func(views.Layout) templ.Component{}
	for _, p := range fixtures.Pages() {
		named[p.Name] = p.Draw
	}
	list := func(s views.State) func(views.Layout) templ.Component {
		return func(l views.Layout) templ.Component {
			return views.JobsPage(l, views.JobsProps{ListFilter: views.ListFilter{State: s}, Rows: fixtures.Rows(50, s), Next: "after"})
		}
	}
	for name, c := range map[string]struct {
		draw     func(views.Layout) templ.Component
		limit    int
		language string
	}{
		"overview":        {named["index"], 40 << 10, "en"},
		"overview, bad":   {named["overview-bad"], 40 << 10, "en"},
		"50 failed":       {list(views.Failed), 15 << 10, "en"},
		"50 failed, tr":   {list(views.Failed), 15 << 10, "tr"},
		"50 processing":   {list(views.Processing), 15 << 10, "en"},
		"50 of scheduled": {list(views.Scheduled), 15 << 10, "en"},
	} {
		html, err := draw(fixtures.Page{Name: name, Draw: c.draw}, look{language: c.language})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(html); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes, %d compressed", name, len(html), b.Len())
		if b.Len() > c.limit {
			t.Errorf("%s: %d bytes compressed, budget %d", name, b.Len(), c.limit)
		}
	}
}
