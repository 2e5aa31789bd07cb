package views

import "net/url"

// JobCopy is the form for a copy of a job; POST looks at what was typed or enqueues.
func (l Links) JobCopy(id string) string { return l.Job(id) + "/copy" }

// JobJSON is the job as programs read it.
func (l Links) JobJSON(id string) string { return l.Path("/api/jobs/" + url.PathEscape(id)) }
