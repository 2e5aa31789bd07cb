package jobs

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

var errHopeless = errors.New("invoice is not valid")

type pointerError struct{ n int }

func (e *pointerError) Error() string { return "pointer " + fmt.Sprint(e.n) }

type listError struct{ _ []string }

func (listError) Error() string { return "list" }

type loopError struct{ next error }

func (*loopError) Error() string   { return "loop" }
func (e *loopError) Unwrap() error { return e.next }

type bombError struct{}

func (*bombError) Error() string { panic("no text") }
func (*bombError) Is(error) bool { panic("no answer") }
func (*bombError) Unwrap() error { panic("nothing inside") }

type wideError struct{}

func (wideError) Error() string     { return "wide" }
func (wideError) Unwrap() []error   { return []error{wideError{}, wideError{}, wideError{}} }
func (wideError) Is(err error) bool { return err == errors.ErrUnsupported }

func TestRTY14MatchersSeeTheWholeChain(t *testing.T) {
	t.Parallel()
	loop := &loopError{}
	loop.next = fmt.Errorf("again: %w", loop)
	for _, c := range []struct {
		name string
		m    Matcher
		err  error
		want bool
	}{
		{"is, itself", Is(errHopeless), errHopeless, true},
		{"is, wrapped", Is(errHopeless), fmt.Errorf("import: %w", errHopeless), true},
		{"is, joined", Is(errHopeless), errors.Join(errors.New("a"), fmt.Errorf("b: %w", errHopeless)), true},
		{"is, marked", Is(errHopeless), RetryAfter(Permanent(errHopeless), 1), true},
		{"is, same text only", Is(errHopeless), errors.New(errHopeless.Error()), false},
		{"is, value in pointer", Is(supplierError{4}), fmt.Errorf("x: %w", &supplierError{4}), true},
		{"is, pointer to value", Is(&supplierError{4}), supplierError{4}, true},
		{"is, other value", Is(supplierError{4}), &supplierError{5}, false},
		{"is, not comparable", Is(listError{}), listError{}, false},
		{"is, own method", Is(errors.ErrUnsupported), wideError{}, true},
		{"as, value", As[supplierError](), fmt.Errorf("x: %w", supplierError{1}), true},
		{"as, pointer of value", As[supplierError](), &supplierError{1}, true},
		{"as, value of pointer", As[*supplierError](), supplierError{1}, true},
		{"as, pointer", As[*pointerError](), errors.Join(&pointerError{1}), true},
		{"as, interface", As[baseError](), fmt.Errorf("x: %w", supplierError{1}), true},
		{"as, other", As[*pointerError](), errHopeless, false},
		{"func gets the whole", MatchFunc("both", func(err error) bool { return strings.HasPrefix(err.Error(), "x: ") }), fmt.Errorf("x: %w", errHopeless), true},
		{"func is asked once", MatchFunc("not", func(err error) bool { return !errors.Is(err, errHopeless) }), errors.Join(errors.New("a"), errHopeless), false},
		{"cycle", Is(errHopeless), loop, false},
		{"endless tree", As[*pointerError](), wideError{}, false},
		{"bomb", Is(errHopeless), &bombError{}, false},
		{"bomb beside a match", Is(errHopeless), errors.Join(&bombError{}, errHopeless), true},
		{"nil pointer", Is(errHopeless), (*loopError)(nil), false},
		{"nil", Is(errHopeless), nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := c.m.matches(c.err); got != c.want {
				t.Errorf("%v matches %T: %v, want %v", c.m, c.err, got, c.want)
			}
		})
	}
}

func TestMatcherPanicIsNoMatchAndIsReported(t *testing.T) {
	t.Parallel()
	got, fault := MatchFunc("sharp", func(error) bool { panic(errHopeless) }).matches(errHopeless)
	if got || fault != "matcher sharp panicked: "+errHopeless.Error() {
		t.Errorf("%v %q", got, fault)
	}
}

func TestMatcherNames(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]Matcher{
		`Is("invoice is not valid")`: Is(errHopeless),
		"As[*jobs.pointerError]":     As[*pointerError](),
		"As[jobs.baseError]":         As[baseError](),
		"mine":                       MatchFunc("mine", func(error) bool { return false }),
		"func":                       MatchFunc("", func(error) bool { return false }),
	} {
		if m.String() != want {
			t.Errorf("%q, want %q", m, want)
		}
	}
	if name := Is(&bombError{}).String(); !strings.Contains(name, "bombError") {
		t.Errorf("an error without text is named %q", name)
	}
}
