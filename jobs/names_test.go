package jobs

import (
	"errors"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "a/b", "a b", "100%", "çığ", "👩‍👧", "../..", "<b>", strings.Repeat("猫", MaxNameLength)} {
		if err := checkQueue(name); err != nil {
			t.Errorf("%q refused: %v", name, err)
		}
	}
	for name, want := range map[string]string{
		"": "kind: is empty: 1 to 200 characters", " \u00a0": "kind: is blank",
		"a\nb": "kind: holds the control character U+000A at byte 1", "a\x00": "kind: holds the control",
		"a\u2028": "kind: holds", "a\xff": "kind: is not valid UTF-8",
		strings.Repeat("猫", MaxNameLength+1): "kind: has 201 characters: at most 200",
	} {
		err := checkKind(name)
		var in *InputError
		if !errors.As(err, &in) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
	for p, ok := range map[int]bool{-5: false, -4: true, 0: true, 4: true, 5: false} {
		if err := checkPriority(p); (err == nil) != ok {
			t.Errorf("priority %d: %v", p, err)
		}
	}
}
