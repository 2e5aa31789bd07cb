package jobs

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
)

// maxChain bounds the errors looked at in one wrap chain. Real chains have
// fewer than ten; an Unwrap that leads back to itself has no end.
const maxChain = 1_000

// Matcher recognises errors, for RetryPolicy.ExceptOn and OnlyOn. It is made by
// Is, As or MatchFunc; the zero Matcher is refused by Validate.
type Matcher struct {
	name    string
	problem string
	whole   bool // asks match once, with the whole error
	match   func(error) bool
}

// String names the matcher, as the dashboard shows it: Is("file does not
// exist"), As[*net.OpError], or the name given to MatchFunc.
func (m Matcher) String() string { return m.name }

// Is matches when target is anywhere in the wrap chain, by the rules of
// errors.Is. A struct target also matches a pointer to an equal struct, and the
// other way round.
func Is(target error) Matcher {
	if target == nil {
		return Matcher{name: "Is(nil)", problem: "Is(nil) never matches", match: func(error) bool { return false }}
	}
	name := "Is(" + strconv.Quote(clip(firstLine(cleanText(message(target), maxErrorText)), 80)) + ")"
	return Matcher{name: name, match: func(err error) bool { return sameError(err, target) }}
}

// As matches when an error of type T is anywhere in the wrap chain, by the rules
// of errors.As. T may be an interface: As[net.Error](). For a struct type T and
// *T count as the same.
func As[T error]() Matcher {
	want := reflect.TypeFor[T]()
	return Matcher{name: "As[" + want.String() + "]", match: func(err error) bool {
		if _, ok := err.(T); ok {
			return true
		}
		if x, ok := err.(interface{ As(any) bool }); ok && x.As(new(T)) {
			return true
		}
		got := reflect.TypeOf(err)
		if want.Kind() == reflect.Pointer {
			return got == want.Elem()
		}
		return want.Kind() != reflect.Interface && got == reflect.PointerTo(want)
	}}
}

// MatchFunc matches when f says so of the error that the handler returned; f
// looks into the wrap chain itself if it wants to. It must not block. A panic in
// it counts as no match and is logged. name is what the dashboard shows.
func MatchFunc(name string, f func(error) bool) Matcher {
	if name == "" {
		name = "func"
	}
	m := Matcher{name: name, whole: true, match: f}
	if f == nil {
		m.problem = "MatchFunc with a nil function never matches"
	}
	return m
}

// matches reports a match and, if something panicked on the way, what. A panic
// at one error of a chain does not hide a match at another.
func (m Matcher) matches(err error) (found bool, fault string) {
	if m.match == nil || err == nil {
		return false, ""
	}
	ask := func(err error) (yes bool) {
		defer func() {
			if v := recover(); v != nil && fault == "" {
				fault = fmt.Sprintf("matcher %s panicked: %s", m.name, describe(v))
			}
		}()
		return m.match(err)
	}
	if m.whole {
		return ask(err), fault
	}
	return walk(err, ask), fault
}

// firstMatch finds the first matcher of a list that knows err.
func firstMatch(list []Matcher, err error) (name string, found bool, faults []string) {
	for _, m := range list {
		ok, fault := m.matches(err)
		if fault != "" {
			faults = append(faults, fault)
		}
		if ok {
			return m.name, true, faults
		}
	}
	return "", false, faults
}

// walk visits err and all it wraps, outermost first and depth first as errors.Is
// does, until visit says true or maxChain errors were seen.
func walk(err error, visit func(error) bool) bool {
	todo := []error{err}
	for seen := 0; len(todo) > 0 && seen < maxChain; seen++ {
		e := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if e == nil {
			continue
		}
		if visit(e) {
			return true
		}
		inner := unwrap(e)
		for i := min(len(inner), maxChain) - 1; i >= 0; i-- {
			todo = append(todo, inner[i])
		}
	}
	return false
}

// unwrap survives an Unwrap that panics, as one on a nil pointer does.
func unwrap(err error) (inner []error) {
	defer func() { _ = recover() }()
	switch x := err.(type) {
	case interface{ Unwrap() error }:
		return []error{x.Unwrap()}
	case interface{ Unwrap() []error }:
		return x.Unwrap()
	}
	return nil
}

func sameError(err, target error) bool {
	et, tt := reflect.TypeOf(err), reflect.TypeOf(target)
	if et == tt && tt.Comparable() && err == target {
		return true
	}
	if x, ok := err.(interface{ Is(error) bool }); ok && x.Is(target) {
		return true
	}
	switch {
	case et.Kind() == reflect.Pointer && et.Elem() == tt:
		return equalElem(err, target)
	case tt.Kind() == reflect.Pointer && tt.Elem() == et:
		return equalElem(target, err)
	}
	return false
}

// equalElem compares what pointer points to with value.
func equalElem(pointer, value any) bool {
	p := reflect.ValueOf(pointer)
	return !p.IsNil() && p.Elem().Comparable() && reflect.ValueOf(value).Comparable() && p.Elem().Equal(reflect.ValueOf(value))
}

var errMessagePanicked = errors.New("the Error method panicked")

// message is err.Error() for errors whose Error method cannot be trusted: on a
// typed nil pointer it usually panics.
func message(err error) (text string) {
	if err == nil {
		return ""
	}
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprintf("%v (error of type %T)", errMessagePanicked, err)
		}
	}()
	return err.Error()
}
