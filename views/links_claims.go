package views

import (
	"net/url"
	"slices"
	"strings"
)

// Claims is the list of claims; "" is the tab of the unsettled ones.
func (l Links) Claims(tab, after string) string {
	return l.Path("/claims") + query("tab", tab, "after", after)
}

// Claim is the page of one claim. A key with a dot segment goes into the query, as
// RecurringOne explains.
func (l Links) Claim(key string) string {
	dots := slices.ContainsFunc(strings.Split(key, "/"), func(s string) bool { return s == "." || s == ".." })
	if key == "" || dots {
		return l.Path("/claims") + query("key", key)
	}
	return l.Path("/claims/" + url.PathEscape(key))
}

// ClaimConfirm asks before a decision on a claim. It lies beside /claims/, where
// every name may be a key; so do the next two. All take POST only.
func (l Links) ClaimConfirm() string { return l.Path("/claims-confirm") }

// ClaimAct carries out what ClaimConfirm described.
func (l Links) ClaimAct() string { return l.Path("/claims-act") }

// ClaimsPurge enqueues a purge of old claims, or a dry run of one.
func (l Links) ClaimsPurge() string { return l.Path("/claims-purge") }

// Calls is the list of provider calls; empty arguments leave their filter out.
func (l Links) Calls(key, job, before string) string {
	return l.Path("/calls") + query("key", key, "job", job, "before", before)
}

// JobTab is a job's page with one of its panels; "" all of them.
func (l Links) JobTab(id, tab string) string { return l.Job(id) + query("tab", tab) }

// ClaimRowID is the element id of a claim's row.
func ClaimRowID(key string) string { return partID("claim", key) }
