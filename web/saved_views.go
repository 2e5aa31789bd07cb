package web

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// savedCookie holds the views that a person saved in their browser: nothing of it is
// kept here. Others may plant or change it, so it only ever becomes links to lists.
const savedCookie = "tekrar_views"

const (
	savedMax = 12
	// A browser sends the cookie with every request, and apps that ours is mounted in
	// refuse headers of more than 4 KB in all.
	savedBytes = 1536
)

// viewsSet saves the filter of a list under a name, or removes a saved one. A name
// that is there already gets the new filter.
func viewsSet(r *request) error {
	back, err := r.field("back")
	if err != nil {
		return err
	}
	do, err := r.field("view")
	if err != nil {
		return err
	}
	name, err := r.field("name")
	if err != nil {
		return err
	}
	name = strings.TrimSpace(name)
	all := r.savedViews()
	at := slices.IndexFunc(all, func(v views.SavedView) bool { return v.Name == name })
	switch do {
	case "save":
		if err := checkSavedName(name); err != nil {
			return err
		}
		f, err := r.d.jobsFilter(r.field)
		if err != nil {
			return err
		}
		v := views.SavedView{Name: name, Filter: presentFilter(f)}
		switch {
		case at >= 0:
			all[at] = v
		case len(all) == savedMax:
			return badInput("Field name: %d views are saved already, which is the limit. Remove one first.", savedMax)
		default:
			all = append(all, v)
		}
	case "remove":
		if at >= 0 {
			all = slices.Delete(all, at, at+1)
		}
	default:
		return badInput("Field view: unknown %s. Known ones: save, remove.", shorten(do))
	}
	text, maxAge := writeSaved(all), yearSeconds
	if len(text) > savedBytes && do == "save" {
		return badInput("Field name: with this view the saved ones take %d bytes; the limit is %d. Remove one first, or save a shorter search.", len(text), savedBytes)
	}
	if text == "" {
		maxAge = -1
	}
	r.d.setCookie(r.Ctx, savedCookie, text, maxAge)
	r.leaveNotice(notice{Do: do + " view"})
	return r.seeOther(back)
}

// savedViews are what the person saved, as far as it is understood.
func (r *request) savedViews() (all []views.SavedView) {
	for one := range strings.SplitSeq(keep(r.Cookies(savedCookie)), "|") {
		if v, ok := readSaved(one); ok && len(all) < savedMax {
			all = append(all, v)
		}
	}
	return all
}

// writeSaved: "name!query|name!query", both escaped as in an address, which leaves
// neither of the two signs in them, and nothing that a cookie cannot hold.
func writeSaved(all []views.SavedView) string {
	parts := make([]string, len(all))
	for i, v := range all {
		values := url.Values{}
		for name, text := range map[string]string{"state": string(v.Filter.State), "queue": v.Filter.Queue, "kind": v.Filter.Kind, "cause": v.Filter.Cause, "group": v.Filter.Group, "q": v.Filter.Q} {
			if text != "" {
				values.Set(name, text)
			}
		}
		parts[i] = url.QueryEscape(v.Name) + "!" + values.Encode()
	}
	return strings.Join(parts, "|")
}

func readSaved(text string) (v views.SavedView, ok bool) {
	name, query, found := strings.Cut(text, "!")
	name, err := url.QueryUnescape(name)
	if !found || err != nil || checkSavedName(name) != nil {
		return v, false
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return v, false
	}
	for param := range values {
		if _, err := plain(param, values.Get(param)); err != nil || !slices.Contains(listParams, param) {
			return v, false
		}
	}
	if _, err := store.ParseState(values.Get("state")); err != nil {
		return v, false
	}
	return views.SavedView{Name: name, Filter: views.ListFilter{
		State: views.State(values.Get("state")), Queue: values.Get("queue"), Kind: values.Get("kind"), Cause: values.Get("cause"), Group: values.Get("group"), Q: values.Get("q"),
	}}, true
}

func checkSavedName(name string) error {
	switch n := utf8.RuneCountInString(name); {
	case n < 1 || n > views.SavedNameMax:
		return badInput("Field name: has %d characters; it must have 1 to %d.", n, views.SavedNameMax)
	case strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }):
		return badInput("Field name: has a character that cannot be printed.")
	}
	return nil
}
