package views_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/views/fixtures"
	"github.com/tekrar/tekrar/views/locale"
)

// goDuration is a length of time as Go writes it, such as 1m31s.
var goDuration = regexp.MustCompile(`\b\d+[hm]\d+m?[\d.]*s\b`)

// Lengths of time are said in the reader's language. An expression is code.
func TestNoPageSaysADurationAsGoDoes(t *testing.T) {
	t.Parallel()
	for _, p := range fixtures.Pages() {
		for text := range said(t, render(t, p.Draw(layout()))) {
			if goDuration.MatchString(text) && !strings.HasPrefix(text, "@every ") {
				t.Errorf("%s: %.200q", p.Name, text)
			}
		}
	}
	if !goDuration.MatchString("Try again in 1m31s.") || !goDuration.MatchString("5m0s") {
		t.Error("the pattern finds nothing")
	}
}

// What is one word in English may be two: the delay that retries add is not the one
// that a person asks for, nor is the name of one thing that of their list.
func TestOneTurkishWordAMeaning(t *testing.T) {
	t.Parallel()
	tr, err := locale.New("tr", "")
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]fixtures.Page{}
	for _, p := range fixtures.Pages() {
		pages[p.Name] = p
	}
	for _, c := range []struct{ page, has, hasNot string }{
		{"attempts-24h", "<dt>Gecikme</dt>", "<dt>Bekleme</dt>"},
		{"copy", "Bekleme", "Gecikme"},
		{"recurring-one", "Yinelenen iş <span", `<span class="quiet">Yinelenenler</span>`},
		{"recurring", "<h1>Yinelenenler</h1>", ""},
		{"job-failed", "<span>Günlük</span>", "<span>Günlük ve ilerleme</span>"},
		{"attempts-30d", " Mar<", " mart<"},
	} {
		l := layout()
		l.Locale = tr
		page := strings.Join(slices.Collect(strings.FieldsSeq(render(t, pages[c.page].Draw(l)))), " ")
		if !strings.Contains(page, c.has) || c.hasNot != "" && strings.Contains(page, c.hasNot) {
			t.Errorf("%s: %q is missing, or %q is there", c.page, c.has, c.hasNot)
		}
	}
}
