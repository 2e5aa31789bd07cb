package views

// JobsOf is the list of jobs under all of a filter; after as in Jobs.
func (l Links) JobsOf(f ListFilter, after string) string {
	return l.Path("/jobs") + query("state", string(f.State), "queue", f.Queue, "kind", f.Kind, "cause", f.Cause, "group", f.Group, "q", f.Q, "after", after)
}

// JobsExport is a download of the whole list, in a format: csv or ndjson.
func (l Links) JobsExport(f ListFilter, format string) string {
	return l.Path("/jobs/export") + query("format", format, "state", string(f.State), "queue", f.Queue, "kind", f.Kind, "cause", f.Cause, "group", f.Group, "q", f.Q)
}

// Failures is the page of groups of failed jobs.
func (l Links) Failures() string { return l.Path("/failures") }

// FailuresConfirm asks before a group is muted; FailuresAct does it. POST only.
func (l Links) FailuresConfirm() string { return l.Path("/failures/confirm") }

// FailuresAct mutes a group or shows it again.
func (l Links) FailuresAct() string { return l.Path("/failures/act") }

// BulkConfirm says what an action on all matching jobs will do; POST only, as the next two.
func (l Links) BulkConfirm() string { return l.Path("/bulk/confirm") }

// BulkStart begins it.
func (l Links) BulkStart() string { return l.Path("/bulk/start") }

// BulkAct stops, continues or undoes one.
func (l Links) BulkAct() string { return l.Path("/bulk/act") }

// Bulk is the page of one bulk operation.
func (l Links) Bulk(id string) string { return l.Path("/bulk/" + id) }

// Audit is the list of what people did; empty arguments leave their filter out.
func (l Links) Audit(actor, action, before string) string {
	return l.Path("/audit") + query("actor", actor, "action", action, "before", before)
}
