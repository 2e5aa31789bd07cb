package web

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// params reads a parameter of an address: the request's, or that of the page a
// socket looks at.
type params func(name string) (string, error)

// listParams are what says which jobs a list holds, without its page.
var listParams = []string{"state", "queue", "kind", "group", "q"}

// jobsFilter reads the filter of a list. Without a state it is the enqueued jobs.
// Lists, downloads and actions on all matching jobs read the same one.
func (d *Dashboard) jobsFilter(get params) (f store.JobFilter, err error) {
	text := map[string]string{}
	for _, name := range append([]string{"after"}, listParams...) {
		value, failed := get(name)
		text[name], err = value, errors.Join(err, failed)
	}
	if err != nil {
		return f, err
	}
	f.Queue, f.Kind, f.State = text["queue"], text["kind"], store.Enqueued
	if text["state"] != "" {
		if f.State, err = store.ParseState(text["state"]); err != nil {
			return f, badInput("Field state: %s.", err)
		}
	}
	if f.Query, err = store.ParseQuery(text["q"]); err != nil {
		return f, badInput("Field q: %s.", err)
	}
	for _, path := range f.Query.ArgPaths() {
		if d.hiddenAt(path) {
			return f, badInput("Field q: args.%s is hidden here, and cannot be searched.", strings.Join(path, "."))
		}
	}
	var asked store.State
	if asked, f.Query = f.Query.State(); asked != 0 {
		f.State = asked
	}
	if text["group"] != "" {
		group, err := store.ParseGroup(text["group"])
		switch {
		case err != nil:
			return f, badInput("Field group: %s.", err)
		case f.State != store.Failed || f.Kind == "":
			return f, badInput("Field group: goes with state=failed and the kind of the group.")
		}
		f.Group = &group
	}
	f.After, err = store.ParseCursor(text["after"])
	return f, err
}

// hiddenAt reports that pages hide a value at this path of args: whoever may not see
// it may not find it out by searching either.
func (d *Dashboard) hiddenAt(path []string) bool {
	const seen = "seen"
	var value any = seen
	for _, step := range slices.Backward(path) {
		value = map[string]any{step: value}
	}
	text, err := json.Marshal(value)
	return err != nil || !strings.Contains(string(d.o.Redact.JSON(text)), `"`+seen+`"}`)
}

func presentFilter(f store.JobFilter) views.ListFilter {
	p := views.ListFilter{State: views.State(f.State.String()), Queue: f.Queue, Kind: f.Kind, Q: f.Query.String()}
	if f.Group != nil {
		p.Group = store.GroupName(*f.Group)
	}
	return p
}

// aim turns a list to where the jobs are that its query names by id or key: a
// person who knows the job need not know its state.
func (d *Dashboard) aim(ctx context.Context, f store.JobFilter) (store.JobFilter, map[store.State]int64) {
	if f.Query.IsZero() {
		return f, nil
	}
	n, named, err := d.db.StatesOf(ctx, f)
	if err != nil || !named {
		return f, nil
	}
	for _, s := range store.States {
		if n[f.State] == 0 && n[s] > 0 {
			f.State = s
		}
	}
	return f, n
}
