// Package sentence puts texts together from formats that a catalogue can translate.
package sentence

import (
	"fmt"
	"slices"
)

// Say gives a format's text in some language: the format is English and as fmt.Sprintf
// takes it. fmt.Sprintf is the Say of English.
type Say = func(format string, args ...any) string

// Sentence is a format and its values; values that are a Part are said in the same
// language.
type Sentence struct {
	Format string
	Args   []any
}

// Part is what can be said: a Sentence, or a Func.
type Part interface{ Say(Say) string }

// New is a sentence.
func New(format string, args ...any) Sentence { return Sentence{format, args} }

// Say puts the sentence together.
func (s Sentence) Say(say Say) string {
	said := slices.Clone(s.Args)
	for i, a := range said {
		if part, ok := a.(Part); ok {
			said[i] = part.Say(say)
		}
	}
	return say(s.Format, said...)
}

// Error is the sentence in English.
func (s Sentence) Error() string { return s.Say(fmt.Sprintf) }

// Func is a Part that a function puts together.
type Func func(Say) string

// Say calls f.
func (f Func) Say(say Say) string { return f(say) }
