package jobs

import (
	"github.com/tekrar/tekrar/jobs/internal/sentence"
	"github.com/tekrar/tekrar/jobs/schedule"
)

// InputError is a value this package refuses: a queue name, a retry policy, the
// arguments of a job. It is returned before anything reaches the database, and
// a web layer can answer it with a 4xx status.
type InputError struct {
	Field   string // what was wrong: "queue", "RetryPolicy.MaxRetries", "args $.items[3].name"
	Problem string // what is wrong with it, with the limit if there is one

	of sentence.Part // Problem, to be said in other languages; nil: in English only
}

// Error gives "field: problem".
func (e *InputError) Error() string { return e.Field + ": " + e.Problem }

// Say is Problem in another language. say gets a format as fmt.Sprintf takes it, in
// English, to be looked up in a catalogue, and its values. What nobody can translate,
// such as the error of an encoder, stays as it is.
func (e *InputError) Say(say func(format string, args ...any) string) string {
	if e.of == nil {
		return e.Problem
	}
	return e.of.Say(say)
}

func inputError(field, format string, args ...any) *InputError {
	of := sentence.New(format, args...)
	return &InputError{Field: field, Problem: of.Error(), of: of}
}

// phrase is a part of a sentence that has words of its own.
func phrase(english string) sentence.Part { return sentence.New(english) }

// scheduleError is what package schedule refuses.
func scheduleError(e *schedule.Error) *InputError {
	return &InputError{Field: e.Field, Problem: e.Problem, of: e}
}
