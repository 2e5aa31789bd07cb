package web_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"
)

// sheet is a rendered page whose every number has to be accounted for: a check
// computes it anew and claims it, or a reason excuses it.
type sheet struct {
	path    string
	main    *html.Node
	claimed map[*html.Node]bool
	said    map[string]bool // "aria-label" and "title" attributes that were claimed, by node and name
	now     time.Time       // the database's clock when the page was asked for
	faults  []string
	numbers int // that were compared
}

func newSheet(path, body string, now time.Time) (*sheet, error) {
	doc, err := html.Parse(strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	s := &sheet{path: path, claimed: map[*html.Node]bool{}, said: map[string]bool{}, now: now}
	if s.main = first(doc, "main"); s.main == nil {
		return nil, fmt.Errorf("%s: no main in %s", path, clip(body))
	}
	return s, nil
}

func (s *sheet) wrong(format string, args ...any) {
	s.faults = append(s.faults, s.path+": "+fmt.Sprintf(format, args...))
}

// all are the elements within root that match a selector of descendants, each a tag,
// "#id", ".class" or a tag with one of these.
func all(root *html.Node, css string) []*html.Node {
	found := []*html.Node{root}
	for _, part := range strings.Fields(css) {
		var next []*html.Node
		seen := map[*html.Node]bool{}
		for _, from := range found {
			for n := range from.Descendants() {
				if n.Type == html.ElementNode && !seen[n] && matches(n, part) {
					seen[n] = true
					next = append(next, n)
				}
			}
		}
		found = next
	}
	return found
}

// first is the first of them, nil when there is none.
func first(root *html.Node, css string) *html.Node {
	if root == nil {
		return nil
	}
	if found := all(root, css); len(found) > 0 {
		return found[0]
	}
	return nil
}

func matches(n *html.Node, part string) bool {
	at := strings.IndexAny(part, "#.")
	if at < 0 {
		return n.Data == part
	}
	if tag := part[:at]; tag != "" && n.Data != tag {
		return false
	}
	if part[at] == '#' {
		return attr(n, "id") == part[at+1:]
	}
	for _, class := range strings.Fields(attr(n, "class")) {
		if class == part[at+1:] {
			return true
		}
	}
	return false
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// texts are the text nodes within n, those of times aside: a time is checked as one.
func texts(n *html.Node, visit func(*html.Node)) {
	if n.Type == html.TextNode {
		visit(n)
		return
	}
	if n.Type == html.ElementNode && (n.Data == "time" || n.Data == "option") {
		return
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		texts(c, visit)
	}
}

// words are the text of n, and claims it.
func (s *sheet) words(n *html.Node) string {
	var b strings.Builder
	texts(n, func(t *html.Node) {
		s.claimed[t] = true
		b.WriteString(t.Data + " ")
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// excuse takes what matches out of the check. The reason is for the reader of the test.
func (s *sheet) excuse(css, _ string) {
	for _, n := range all(s.main, css) {
		s.words(n)
		for c := range n.Descendants() {
			s.said[key(c, "title")], s.said[key(c, "aria-label")] = true, true
		}
	}
}

func key(n *html.Node, name string) string { return fmt.Sprintf("%p %s", n, name) }

var digit = regexp.MustCompile(`\d`)

// constants are sentences of the page whose numbers are always the same.
var constants = map[string]bool{
	"Last 24 h": true, "Attempts, last 6 h": true, "95 % band": true, "1st attempt": true, "2nd attempt": true, "3rd attempt": true, "4th or later": true,
	"Used up, once at attempt 3": true, "Last 20 fires, newest last": true, "Last 20 fires": true, "95 % answer within": true,
	"Servers, live ones first, those that ended within 24 h after them":                                                                            true,
	"Claims that are done, released or failed go 30 days after their last use. Those of a job that can still run stay, and unsettled ones always.": true,
}

// rest complains about every number that no check looked at.
func (s *sheet) rest() {
	texts(s.main, func(t *html.Node) {
		text := strings.Join(strings.Fields(t.Data), " ")
		if !s.claimed[t] && digit.MatchString(text) && !constants[text] && t.Parent.Data != "code" && t.Parent.Data != "pre" {
			s.wrong("nobody checked %q in %s", text, place(t))
		}
	})
	for n := range s.main.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "time" && !s.claimed[n] {
			s.wrong("nobody checked the time %s in %s", attr(n, "datetime"), place(n))
		}
		for _, name := range []string{"aria-label", "title"} {
			if v := attr(n, name); n.Data != "time" && digit.MatchString(v) && !s.said[key(n, name)] && !constants[v] {
				s.wrong("nobody checked %s %q in %s", name, v, place(n))
			}
		}
	}
}

func place(n *html.Node) string {
	var parts []string
	for ; n != nil && n.Data != "main"; n = n.Parent {
		if n.Type == html.ElementNode {
			part := n.Data
			if id := attr(n, "id"); id != "" {
				part += "#" + id
			} else if class := attr(n, "class"); class != "" {
				part += "." + strings.ReplaceAll(class, " ", ".")
			}
			parts = append([]string{part}, parts...)
		}
	}
	return strings.Join(parts, " ")
}

// id reads the number of a part's id: "job-row-17".
func idNumber(n *html.Node) int64 {
	text := attr(n, "id")
	v, _ := strconv.ParseInt(text[strings.LastIndexByte(text, '-')+1:], 10, 64)
	return v
}
