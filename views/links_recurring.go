package views

import (
	"net/url"
	"slices"
	"strings"
)

// Recurring is the list of recurring jobs.
func (l Links) Recurring() string { return l.Path("/recurring") }

// RecurringOne is the page of one recurring job. An id with a dot segment goes into
// the query: browsers and proxies resolve "..", escaped or not, before we see it.
func (l Links) RecurringOne(id string) string {
	dots := slices.ContainsFunc(strings.Split(id, "/"), func(s string) bool { return s == "." || s == ".." })
	if id == "" || dots {
		return l.Recurring() + query("id", id)
	}
	return l.Path("/recurring/" + url.PathEscape(id))
}

// RecurringNew is the empty form. It lies beside /recurring/, where every name may
// be that of a recurring job; so do the next three, which take POST only.
func (l Links) RecurringNew() string { return l.Path("/recurring-new") }

// RecurringSave shows what a form means, or stores it.
func (l Links) RecurringSave() string { return l.Path("/recurring-save") }

// RecurringConfirm asks before a recurring job is removed.
func (l Links) RecurringConfirm() string { return l.Path("/recurring-confirm") }

// RecurringAct runs one now, pauses, resumes or removes it.
func (l Links) RecurringAct() string { return l.Path("/recurring-act") }

// RecurringRowID is the element id of a recurring job's row.
func RecurringRowID(id string) string { return "recurring-row-" + url.PathEscape(id) }
