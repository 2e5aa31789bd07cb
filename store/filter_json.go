package store

import (
	"encoding/json"
	"fmt"
)

// filterJSON is a JobFilter as operations and the audit keep it: what a person
// asked for, without the page.
type filterJSON struct {
	State string `json:"state"`
	Queue string `json:"queue,omitempty"`
	Kind  string `json:"kind,omitempty"`
	Cause Cause  `json:"cause,omitempty"`
	Group string `json:"group,omitempty"`
	Query string `json:"q,omitempty"`

	Hidden *Hidden `json:"hidden,omitempty"`
}

// JSON writes the filter without its place and size of a page.
func (f JobFilter) JSON() string {
	out := filterJSON{State: f.State.String(), Queue: f.Queue, Kind: f.Kind, Cause: f.Cause, Query: f.Query.String()}
	if f.Group != nil {
		out.Group = GroupName(*f.Group)
	}
	if f.Query.readsArgs() && !f.Hidden.IsZero() {
		out.Hidden = &f.Hidden
	}
	text, err := json.Marshal(out)
	if err != nil {
		panic(err) // strings and a number always encode
	}
	return string(text)
}

// ParseFilter reads what JSON wrote.
func ParseFilter(text []byte) (f JobFilter, err error) {
	var in filterJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return f, fmt.Errorf("read filter: %w", err)
	}
	f = JobFilter{Queue: in.Queue, Kind: in.Kind, Cause: in.Cause}
	if f.State, err = ParseState(in.State); err != nil {
		return f, fmt.Errorf("read filter: %w", err)
	}
	if in.Group != "" {
		group, err := ParseGroup(in.Group)
		if err != nil {
			return f, fmt.Errorf("read filter: group %w", err)
		}
		f.Group = &group
	}
	if f.Query, err = ParseQuery(in.Query); err != nil {
		return f, fmt.Errorf("read filter: query %w", err)
	}
	if in.Hidden != nil {
		f.Hidden = *in.Hidden
	}
	return f, f.check()
}
