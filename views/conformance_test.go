package views

import (
	"testing"
	"time"
)

// Row 98: Hangfire prints 1.087 s as "+1.087s". Here a length of time has three
// significant digits and its unit, and no sign: a duration is no offset.
func TestConformanceDurations(t *testing.T) {
	t.Parallel()
	t.Run("98 1.087 s", func(t *testing.T) {
		if got := (Layout{}).Duration(1087 * time.Millisecond); got != "1.09 s" {
			t.Errorf("%q", got)
		}
	})
}
