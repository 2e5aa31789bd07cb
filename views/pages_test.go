package views_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/a-h/templ"

	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/views/fixtures"
)

const prefix = "/ops/b~g"

func layout() views.Layout { return fixtures.Layout(views.Links{Prefix: prefix}) }

func render(t *testing.T, c templ.Component) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func parse(t *testing.T, s string) *html.Node {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func each(n *html.Node, f func(*html.Node)) {
	if n.Type == html.ElementNode {
		f(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		each(c, f)
	}
}

func attr(n *html.Node, name string) string {
	v, _ := has(n, name)
	return v
}

func has(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

func text(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.WriteString(text(c))
	}
	return b.String()
}

// onPages runs a check on every fixture.
func onPages(t *testing.T, check func(t *testing.T, source string, doc *html.Node)) {
	t.Helper()
	t.Parallel()
	for _, p := range fixtures.Pages() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			source := render(t, p.Draw(layout()))
			check(t, source, parse(t, source))
		})
	}
}

// SEC: names, errors, args and texts are shown, never run. Only our two scripts,
// no handler and no style attribute survive parsing.
func TestHostileTextStaysText(t *testing.T) {
	onPages(t, func(t *testing.T, source string, doc *html.Node) {
		scripts := 0
		each(doc, func(n *html.Node) {
			switch n.Data {
			case "script":
				scripts++
				if !strings.HasPrefix(attr(n, "src"), prefix+"/static/") || n.FirstChild != nil {
					t.Errorf("inline or foreign script %v", n.Attr)
				}
			case "img", "iframe", "style", "object", "embed", "base":
				t.Errorf("unexpected <%s>", n.Data)
			}
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "srcdoc" {
					t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
				}
				if v := strings.ToLower(strings.TrimSpace(a.Val)); (a.Key == "href" || a.Key == "action") && strings.HasPrefix(v, "javascript:") {
					t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
				}
			}
		})
		if scripts != 2 {
			t.Errorf("%d scripts, want 2", scripts)
		}
	})
}

// The test above can only fail where hostile text is drawn at all.
func TestFixturesShowHostileText(t *testing.T) {
	t.Parallel()
	shown := 0
	for _, p := range fixtures.Pages() {
		if strings.Contains(text(parse(t, render(t, p.Draw(layout())))), `"><script>alert(`) {
			shown++
		}
	}
	if shown < 8 {
		t.Errorf("hostile text is shown on %d pages, want at least 8", shown)
	}
}

func TestIDsAreUniqueAndReferencesResolve(t *testing.T) {
	onPages(t, func(t *testing.T, _ string, doc *html.Node) {
		ids := map[string]bool{}
		each(doc, func(n *html.Node) {
			if id, ok := has(n, "id"); ok {
				if ids[id] || id == "" || strings.ContainsAny(id, " \t\n\"'") {
					t.Errorf("id %q is double or odd", id)
				}
				ids[id] = true
			}
		})
		each(doc, func(n *html.Node) {
			for _, ref := range []string{attr(n, "aria-labelledby"), attr(n, "list"), attr(n, "data-copy"), strings.TrimPrefix(attr(n, "href"), "#")} {
				if ref != "" && !strings.HasPrefix(ref, "/") && !ids[ref] {
					t.Errorf("<%s> refers to %q, which is not on the page", n.Data, ref)
				}
			}
		})
	})
}

func TestFormsHaveTokens(t *testing.T) {
	onPages(t, func(t *testing.T, _ string, doc *html.Node) {
		each(doc, func(form *html.Node) {
			if form.Data != "form" {
				return
			}
			tokens := 0
			each(form, func(n *html.Node) {
				if n.Data == "input" && attr(n, "name") == "token" && attr(n, "type") == "hidden" && attr(n, "value") == "token-of-this-session" {
					tokens++
				}
			})
			if post := attr(form, "method") == "post"; post && tokens != 1 || !post && tokens != 0 {
				t.Errorf("%s form to %s has %d tokens", attr(form, "method"), attr(form, "action"), tokens)
			}
		})
	})
}

func TestEveryURLHasThePrefix(t *testing.T) {
	onPages(t, func(t *testing.T, _ string, doc *html.Node) {
		each(doc, func(n *html.Node) {
			for _, key := range []string{"href", "action", "src", "formaction"} {
				v, ok := has(n, key)
				if ok && !strings.HasPrefix(v, prefix+"/") && !strings.HasPrefix(v, "#") {
					t.Errorf("<%s %s=%q>", n.Data, key, v)
				}
			}
		})
	})
}

func TestTablesHaveCaptionsAndControlsHaveNames(t *testing.T) {
	onPages(t, func(t *testing.T, _ string, doc *html.Node) {
		headings := 0
		each(doc, func(n *html.Node) {
			switch n.Data {
			case "h1":
				headings++
			case "table":
				if c := n.FirstChild; c == nil || c.Data != "caption" || strings.TrimSpace(text(c)) == "" {
					t.Error("a table without a caption")
				}
			case "button", "a", "summary":
				if strings.TrimSpace(text(n)) == "" && attr(n, "aria-label") == "" && n.FirstChild != nil && n.FirstChild.Data != "rect" {
					t.Errorf("<%s> without a name: %v", n.Data, n.Attr)
				}
			case "th":
				if attr(n, "scope") == "" {
					t.Errorf("a heading cell without scope: %q", text(n))
				}
			case "input":
				if attr(n, "type") != "hidden" && attr(n, "aria-label") == "" && n.Parent.Data != "label" {
					t.Errorf("an input without a label: %v", n.Attr)
				}
			}
		})
		if headings != 1 {
			t.Errorf("%d h1, want 1", headings)
		}
	})
}

// Parts are what the script may patch; each needs an id and a number.
func TestPartsCarryIDAndVersion(t *testing.T) {
	onPages(t, func(t *testing.T, _ string, doc *html.Node) {
		each(doc, func(n *html.Node) {
			if _, ok := has(n, "data-part"); !ok {
				return
			}
			v := attr(n, "data-v")
			if attr(n, "id") == "" || v == "" || strings.Trim(v, "0123456789") != "" {
				t.Errorf("part %q has id %q, version %q", attr(n, "data-part"), attr(n, "id"), v)
			}
		})
	})
}

func TestPageBudgets(t *testing.T) {
	t.Parallel()
	budgets := map[string]int{"index": 40 << 10, "jobs-enqueued": 15 << 10, "jobs-scheduled": 15 << 10, "jobs-succeeded": 15 << 10, "jobs-odd": 15 << 10, "attempts-24h": 40 << 10}
	for _, p := range fixtures.Pages() {
		budget, ok := budgets[p.Name]
		if !ok {
			continue
		}
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(render(t, p.Draw(layout())))); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if b.Len() > budget {
			t.Errorf("%s: %d bytes compressed, budget %d", p.Name, b.Len(), budget)
		}
		delete(budgets, p.Name)
	}
	if len(budgets) != 0 {
		t.Errorf("no fixture for %v", budgets)
	}
}

// LST-20: a kind of 5,000 characters is cut in lists and whole on its job's page.
func TestLST20LongKind(t *testing.T) {
	t.Parallel()
	for _, p := range fixtures.Pages() {
		n := strings.Count(render(t, p.Draw(layout())), fixtures.LongKind)
		switch p.Name {
		case "job-huge":
			if n != 1 {
				t.Errorf("%s: the whole kind is shown %d times, want once", p.Name, n)
			}
		case "jobs-odd", "overview-warn":
			if n != 0 {
				t.Errorf("%s: carries the whole kind %d times", p.Name, n)
			}
		}
	}
}
