package web

import (
	"errors"
	"strings"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/views/locale"
)

// fieldOf says at which field of the form an error of package jobs belongs.
var fieldOf = map[string]string{
	"id": "id", "kind": "kind", "queue": "queue", "cron": "spec", "interval": "spec", "zone": "zone", "start": "start", "end": "end",
	"misfire": "misfire", "overlap": "overlap", "args": "args",
}

// addInputErrors puts refused input to the fields it was typed into, or to the whole
// form. It is false for an error that is none of the person's.
func addInputErrors(in *locale.Locale, fields map[string]string, err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range joined.Unwrap() {
			if !addInputErrors(in, fields, one) {
				return false
			}
		}
		return true
	}
	var input *jobs.InputError
	if !errors.As(err, &input) {
		return false
	}
	kind, where, _ := strings.Cut(input.Field, " ")
	name, problem := fieldOf[kind], input.Say(in.Say)
	switch {
	case name == "":
		problem = in.Say("Field %s: %s.", input.Field, problem)
	case where != "" && where != "$":
		problem = in.Say("at %s: %s", where, problem) // within the args
	}
	if fields[name] != "" {
		problem = fields[name] + "; " + problem
	}
	fields[name] = problem
	return true
}
