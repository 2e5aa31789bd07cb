package views

import (
	"context"
	"io"
	"strings"

	"github.com/a-h/templ"
)

// Slots stand in a sentence where an element goes, so that each language puts it where
// it belongs. No text of the database holds their first character.
const (
	slotMark = "\x00"
	slot1    = slotMark + "1"
	slot2    = slotMark + "2"
	slot3    = slotMark + "3"
)

// filled is a sentence with an element in the place of each slot; the first is that of
// slot1. It is one element itself, so that a row of boxes (flex) keeps it together.
func filled(sentence string, elements ...templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		before, rest, more := strings.Cut(sentence, slotMark)
		before = "<span>" + templ.EscapeString(before)
		for {
			if !more {
				before += "</span>"
			}
			if _, err := io.WriteString(w, before); err != nil || !more {
				return err
			}
			if n := strings.IndexByte("123", (rest + " ")[0]); n >= 0 && n < len(elements) {
				rest = rest[1:]
				if err := elements[n].Render(ctx, w); err != nil {
					return err
				}
			}
			before, rest, more = strings.Cut(rest, slotMark)
			before = templ.EscapeString(before)
		}
	})
}
