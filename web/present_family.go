package web

import (
	"strconv"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// familyShown is how many continuations a job's page names.
const familyShown = 20

func presentFamily(f store.Family) views.FamilyProps {
	p := views.FamilyProps{More: f.More}
	if f.Parent != nil {
		parent := presentRelative(*f.Parent)
		p.Parent = &parent
	}
	if f.CopyOf != nil {
		original := presentRelative(*f.CopyOf)
		p.CopyOf = &original
	}
	for _, r := range f.Continuations {
		p.Continuations = append(p.Continuations, presentRelative(r))
	}
	return p
}

func presentRelative(r store.Relative) views.RelativeProps {
	p := views.RelativeProps{ID: strconv.FormatInt(r.ID, 10), Kind: r.Kind}
	if r.State != 0 {
		p.State = views.State(r.State.String())
	}
	p.Condition = map[store.Condition]string{store.OnSuccess: "success", store.OnFailure: "failure", store.Always: "always"}[r.Condition]
	return p
}
