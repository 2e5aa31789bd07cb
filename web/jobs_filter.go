package web

import (
	"context"
	"errors"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// params reads a parameter of an address: the request's, or that of the page a
// socket looks at.
type params func(name string) (string, error)

// listParams are what says which jobs a list holds, without its page.
var listParams = []string{"state", "queue", "kind", "cause", "group", "q"}

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
	if err = f.Query.CheckPaths(d.o.Redact.HidesPath); err != nil {
		return f, badInput("Field q: %s.", err)
	}
	f.Hidden.Keys, f.Hidden.Paths = d.o.Redact.Parts()
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
	if text["cause"] != "" {
		if f.Cause = causeNamed(text["cause"]); f.Cause == 0 {
			return f, badInput("Field cause: unknown %s. Known ones: asked, retry, snooze.", shorten(text["cause"]))
		}
		if f.State != store.Scheduled {
			return f, badInput("Field cause: goes with state=scheduled.")
		}
	}
	f.After, err = store.ParseCursor(text["after"])
	return f, err
}

// causeNamed is the cause that an address names; 0 if none has that name.
func causeNamed(name string) store.Cause {
	for c, known := range causeNames {
		if known == name {
			return c
		}
	}
	return 0
}

func presentFilter(f store.JobFilter) views.ListFilter {
	p := views.ListFilter{State: views.State(f.State.String()), Queue: f.Queue, Kind: f.Kind, Cause: causeNames[f.Cause], Q: f.Query.String()}
	if f.Group != nil {
		p.Group = store.GroupName(*f.Group)
	}
	return p
}

// aim is store.DB.Aim; a list whose query could not be looked up stays what it is.
func (d *Dashboard) aim(ctx context.Context, f store.JobFilter) (store.JobFilter, map[store.State]int64) {
	aimed, n, err := d.db.Aim(ctx, f)
	if err != nil {
		return f, nil
	}
	return aimed, n
}
