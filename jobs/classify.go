package jobs

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"time"

	"github.com/tekrar/tekrar/store"
)

// result is how a handler's function ended, before anybody judges it.
type result struct {
	Err      error                // what it returned, or the *PanicError of its panic
	Panicked bool                 // it panicked; panic(nil) counts
	Goexit   bool                 // it neither returned nor panicked
	TimedOut bool                 // its context had ended by the job's timeout
	Timeout  time.Duration        // that timeout, for the text; 0 means none or unknown
	Cause    error                // context.Cause of its context at the end; nil if that was alive
	Stack    string               // debug.Stack of a panic or Goexit, taken in the deferred function
	Upcoming upcoming             // of a recurring job: what a retry must leave alone
	Asked    *store.CancelRequest // to end: a person does not want the job again
}

// PanicError is the error of an attempt whose handler panicked. A policy can
// name it: ExceptOn: []Matcher{As[*PanicError]()}. If the handler panicked with
// an error, that is in its wrap chain.
type PanicError struct {
	Value string // the value in words
	Type  string // the value's Go type
	err   error
}

// Error gives "panic: value (type)".
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %s (%s)", e.Value, e.Type) }

// Unwrap gives the value that the handler panicked with if that is an error.
func (e *PanicError) Unwrap() error { return e.err }

// panicResult turns what recover gave into a result. recover gives a
// *runtime.PanicNilError for panic(nil); a plain nil is read as that too.
func panicResult(value any, stack []byte) result {
	e := &PanicError{Value: "nil", Type: "nil"}
	if value != nil {
		e.Value, e.Type = describe(value), reflect.TypeOf(value).String()
		e.err, _ = value.(error)
	}
	return result{Err: e, Panicked: true, Stack: string(stack)}
}

// goexitResult is the result of a handler that took its goroutine with it.
func goexitResult(stack []byte) result {
	return result{Err: ErrGoexit, Goexit: true, Stack: string(stack)}
}

// failure is the error of the attempt, nil if it succeeded. A handler that
// returned nil did its work, however late.
func (r result) failure() error {
	switch {
	case r.Err != nil:
		return r.Err
	case r.Panicked:
		return &PanicError{Value: "nil", Type: "nil"}
	case r.Goexit:
		return ErrGoexit
	}
	return nil
}

// interrupted tells a handler that stopped because its server stops from one
// that failed meanwhile. Drivers hide a cancellation in errors of their own, so
// any error counts, unless it is one that the policy knows as hopeless: that one
// would be hopeless tomorrow too.
func (r result) interrupted(err error, hopeless bool) bool {
	if r.Panicked || r.Goexit || !errors.Is(r.Cause, ErrShutdown) {
		return false
	}
	cancelled := walk(err, func(e error) bool { return e == context.Canceled || e == ErrShutdown })
	return cancelled || !hopeless
}

// errorText is the message of a failed attempt as it is stored. Go's own texts
// for an ended context say nothing about why it ended: they are replaced.
func (r result) errorText(err error) string {
	text := message(err)
	switch {
	case r.TimedOut && text == context.DeadlineExceeded.Error():
		text = "timed out"
		if r.Timeout > 0 {
			text = fmt.Sprintf("timed out after %v", r.Timeout)
		}
	case r.Cause != nil && r.Cause != context.Canceled && text == context.Canceled.Error():
		text += ": " + message(r.Cause)
	}
	if text = cleanText(text, maxErrorText); text == "" {
		return "(no message)"
	}
	return text
}

// describe words a panic's value. It prints structs only where they hold no
// reference: fmt would follow a map that holds itself until the stack, and with
// it the process, ends.
func describe(value any) (text string) {
	defer func() {
		if recover() != nil {
			text = "a value that cannot be printed"
		}
	}()
	switch x := value.(type) {
	case nil, *runtime.PanicNilError:
		return "nil"
	case error:
		return message(x)
	case fmt.Stringer:
		return x.String()
	}
	if flat(reflect.TypeOf(value), 0) {
		return fmt.Sprintf("%+v", value)
	}
	return "a value of type " + reflect.TypeOf(value).String()
}

// flat reports that values of type t can be printed without following references.
func flat(t reflect.Type, depth int) bool {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if depth > 8 || !flat(t.Field(i).Type, depth+1) {
				return false
			}
		}
		return true
	case reflect.Array, reflect.Slice:
		return depth <= 8 && flat(t.Elem(), depth+1)
	case reflect.Map, reflect.Pointer, reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return false
	}
	return true
}
