package jobs

// InputError is a value this package refuses: a queue name, a retry policy, the
// arguments of a job. It is returned before anything reaches the database, and
// a web layer can answer it with a 4xx status.
type InputError struct {
	Field   string // what was wrong: "queue", "RetryPolicy.MaxRetries", "args $.items[3].name"
	Problem string // what is wrong with it, with the limit if there is one
}

// Error gives "field: problem".
func (e *InputError) Error() string { return e.Field + ": " + e.Problem }
