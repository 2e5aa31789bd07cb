package views

import (
	"slices"

	"github.com/tekrar/tekrar/views/locale"
)

// FamilyProps is what a job waits or waited for, and what waits or waited for it.
type FamilyProps struct {
	Parent        *RelativeProps // with the condition of the job itself; nil: none
	Continuations []RelativeProps
	More          bool           // there are more continuations
	CopyOf        *RelativeProps // the job of which this one is a copy; nil: none
}

// RelativeProps is a job beside another one.
type RelativeProps struct {
	ID, Kind  string
	State     State  // "": retention has removed the job
	Condition string // success, failure, always
}

// waits says what the job waits for; slot1 is its parent.
func (r RelativeProps) waits(in *locale.Locale) string {
	switch r.Condition {
	case "success":
		return in.Say("Waits for %s to succeed.", slot1)
	case "failure":
		return in.Say("Waits for %s to fail or be deleted.", slot1)
	}
	return in.Say("Waits for %s to end.", slot1)
}

// startsThis follows a job's parent.
func (r RelativeProps) startsThis(in *locale.Locale) string {
	switch r.Condition {
	case "success":
		return in.Say("starts this job when it succeeds")
	case "failure":
		return in.Say("starts this job when it fails or is deleted")
	}
	return in.Say("starts this job when it ends")
}

// startsAfter follows a continuation.
func (r RelativeProps) startsAfter(in *locale.Locale) string {
	switch r.Condition {
	case "success":
		return in.Say("starts when this job succeeds")
	case "failure":
		return in.Say("starts when this job fails or is deleted")
	}
	return in.Say("starts when this job ends")
}

// states are the tabs; that of a state which few use is left out while nothing is
// in it.
func (t TabsProps) states() []State {
	if c := t.Counts[Awaiting]; c.N > 0 || c.AtLeast || t.State == Awaiting {
		return States
	}
	return slices.DeleteFunc(slices.Clone(States), func(s State) bool { return s == Awaiting })
}
