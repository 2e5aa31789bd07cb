package views

import "slices"

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

// waitsTo ends "waits for its parent to".
func (r RelativeProps) waitsTo() string {
	switch r.Condition {
	case "success":
		return "succeed"
	case "failure":
		return "fail or be deleted"
	}
	return "end"
}

// when ends "starts when its parent".
func (r RelativeProps) when() string {
	switch r.Condition {
	case "success":
		return "succeeds"
	case "failure":
		return "fails or is deleted"
	}
	return "ends"
}

// states are the tabs; that of a state which few use is left out while nothing is
// in it.
func (t TabsProps) states() []State {
	if c := t.Counts[Awaiting]; c.N > 0 || c.AtLeast || t.Current == Awaiting {
		return States
	}
	return slices.DeleteFunc(slices.Clone(States), func(s State) bool { return s == Awaiting })
}
