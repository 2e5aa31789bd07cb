package views_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/tekrar/tekrar/views/fixtures"
	"github.com/tekrar/tekrar/views/locale"
)

// spoken are the attributes that are read to somebody.
var spoken = []string{"aria-label", "title", "placeholder", "alt", "data-word"}

// said collects the texts of a page, its attributes included. Left out are parts that
// say they are English, and what is code or typed by a person.
func said(t *testing.T, page string) map[string]bool {
	t.Helper()
	texts := map[string]bool{}
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			texts[strings.Join(strings.Fields(n.Data), " ")] = true
		}
		if n.Type == html.ElementNode {
			if slices.Contains([]string{"script", "style", "svg", "pre", "code", "kbd", "textarea", "datalist"}, n.Data) {
				return
			}
			for _, a := range n.Attr {
				if a.Key == "lang" && n.Data != "html" {
					return
				}
				if slices.Contains(spoken, a.Key) {
					texts[strings.Join(strings.Fields(a.Val), " ")] = true
				}
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(parse(t, page))
	return texts
}

// prose is what nobody calls a kind, a queue or a server.
var prose = regexp.MustCompile(`(?i)(^|[^-.\w])(the|of|is|are|was|were|to|for|no|not|and|or|by|with|in|on|at|it|this|that|until|from|has|have|none|more|all)([^-.\w]|$)`)

// A Turkish page says nothing of its own in English: every fixture in both languages,
// and no text of prose is the same in both.
func TestTurkishPagesAreTurkish(t *testing.T) {
	t.Parallel()
	tr, err := locale.New("tr", "Europe/Istanbul")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range fixtures.Pages() {
		l := layout()
		english := said(t, render(t, p.Draw(l)))
		l.Locale = tr
		page := render(t, p.Draw(l))
		if !strings.Contains(page, `<html lang="tr"`) {
			t.Errorf("%s: no lang", p.Name)
		}
		for text := range said(t, page) {
			if english[text] && prose.MatchString(text) {
				t.Errorf("%s: in English: %.120q", p.Name, text)
			}
		}
	}
}
