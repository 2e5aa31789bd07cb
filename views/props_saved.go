package views

// SavedView is a filter of the jobs page that a person keeps in their browser under
// a name.
type SavedView struct {
	Name   string
	Filter ListFilter
}

// SavedNameMax is how many characters such a name has at most.
const SavedNameMax = 40

// SavedViews saves the shown filter under a name, or removes a saved one; POST only.
func (l Links) SavedViews() string { return l.Path("/jobs/views") }
