package jobs

import (
	"context"
	"hash/fnv"
	"reflect"
	"regexp"
	"strings"
)

// errorType names what failed: the outermost error of the wrap chain whose type
// tells more than that text was put around another error. Types that only carry
// text (fmt.Errorf, errors.New, errors.Join, github.com/pkg/errors and this
// package's own marks) are passed over; "error" is left when the chain holds
// nothing else. So fmt.Errorf("load: %w", &net.OpError{…}) is a *net.OpError.
func errorType(err error) string {
	name := ""
	walk(err, func(e error) bool {
		name = tellingType(e)
		return name != ""
	})
	if name == "" {
		return "error"
	}
	return clip(cleanText(name, maxErrorText), maxErrorLine)
}

func tellingType(err error) string {
	switch err {
	case context.Canceled:
		return "context.Canceled"
	case context.DeadlineExceeded:
		return "context.DeadlineExceeded"
	case ErrGoexit:
		return "runtime.Goexit"
	}
	switch err.(type) {
	case *PanicError:
		return "panic"
	case *permanentError, *cancelError, *snoozeError, *retryAfterError:
		return ""
	}
	t := reflect.TypeOf(err)
	named := t
	if t.Kind() == reflect.Pointer {
		named = t.Elem()
	}
	switch named.PkgPath() {
	case "fmt", "errors", "github.com/pkg/errors":
		return ""
	}
	return t.String()
}

// varying matches what differs between two occurrences of one failure: UUIDs,
// hexadecimal ids of eight digits and more that hold a decimal one, numbers.
var varying = regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b` +
	`|\b0x[0-9a-f]+\b|\b[0-9a-f]{8,}\b|\d+(?:\.\d+)*`)

// Fingerprint groups failures: equal for the same type and the same first line,
// whatever the numbers and ids in it. It is a hash: Postgres indexes it, not the
// text.
func Fingerprint(errorType, text string) int64 {
	line := clip(firstLine(text), maxErrorLine)
	line = varying.ReplaceAllStringFunc(line, func(s string) string {
		if strings.ContainsAny(s, "0123456789") {
			return "#"
		}
		return s // a word that happens to use a to f only
	})
	h := fnv.New64a()
	_, _ = h.Write([]byte(errorType + "\x00" + line))
	return int64(h.Sum64())
}
