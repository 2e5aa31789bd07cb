package views

import (
	"net/url"
	"strings"
)

// Links builds every URL of the dashboard. The mount path is not visible to a
// mounted handler, so it is configuration: no page writes a URL by hand.
type Links struct {
	// Prefix is the mount path without a final slash, "" at the root, "/ops/jobs" for example.
	Prefix string
	// Assets maps the plain name of a static file to its content-hashed name.
	// A name that is missing is used as it is.
	Assets map[string]string
}

// Path puts the prefix before an absolute path, which the caller has escaped.
func (l Links) Path(p string) string { return strings.TrimSuffix(l.Prefix, "/") + p }

// Overview is the start page.
func (l Links) Overview() string { return l.Path("/") }

// Job is a job's page. The id is escaped as one path segment.
func (l Links) Job(id string) string { return l.Path("/jobs/" + url.PathEscape(id)) }

// JobOlder is a job's page with the history rows before the given history id.
func (l Links) JobOlder(id, before string) string {
	return l.Job(id) + query("before", before)
}

// Jobs is the list of jobs; empty arguments leave their filter out.
func (l Links) Jobs(state State, queue, kind, after string) string {
	return l.Path("/jobs") + query("state", string(state), "queue", queue, "kind", kind, "after", after)
}

// Attempts is the chart page.
func (l Links) Attempts(f ChartFilter) string {
	return l.Path("/attempts") + query("span", f.Span, "scale", string(f.Scale), "kind", f.Kind, "queue", f.Queue, "version", f.CodeVersion)
}

// Queues, Servers and Demo are the pages of these names.
func (l Links) Queues() string { return l.Path("/queues") }

// Servers is the page of processes that run jobs.
func (l Links) Servers() string { return l.Path("/servers") }

// Demo is the page of scenario cards.
func (l Links) Demo() string { return l.Path("/demo") }

// Confirm, Act, QueueAct, DemoEnqueue and Theme take POST only; props.go lists their fields.
func (l Links) Confirm() string { return l.Path("/jobs/confirm") }

// Act carries out what Confirm described.
func (l Links) Act() string { return l.Path("/jobs/act") }

// QueueAct pauses or resumes a queue.
func (l Links) QueueAct() string { return l.Path("/queues/act") }

// DemoEnqueue enqueues a scenario card.
func (l Links) DemoEnqueue() string { return l.Path("/demo/enqueue") }

// Theme stores the chosen theme in a cookie.
func (l Links) Theme() string { return l.Path("/theme") }

// Asset is the address of a static file, content-hashed so that it may be cached for ever.
func (l Links) Asset(name string) string {
	if hashed, ok := l.Assets[name]; ok {
		name = hashed
	}
	return l.Path("/static/" + name)
}

// query joins pairs of name and value, leaving out empty values. Names are ours;
// values are escaped, so that a queue called "a+b", "100%" or "?x=1" arrives unchanged.
func query(pairs ...string) string {
	var b strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		if b.Len() == 0 {
			b.WriteByte('?')
		} else {
			b.WriteByte('&')
		}
		b.WriteString(pairs[i] + "=" + url.QueryEscape(pairs[i+1]))
	}
	return b.String()
}
