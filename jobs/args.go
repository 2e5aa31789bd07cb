package jobs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

const (
	// DefaultArgsLimit is the most bytes of compact JSON that a job's arguments
	// may have, unless Config says otherwise: 1 MiB.
	DefaultArgsLimit = 1 << 20
	// MaxArgsDepth is how deep objects and arrays may nest. Postgres and Go both
	// give up much later, but with an error that names nothing.
	MaxArgsDepth = 100
	// MaxArgsExponent bounds the exponent of a number. Postgres writes numbers
	// out in full: 1e100000 would be nine bytes here and 100,000 there.
	MaxArgsExponent = 1_000
)

// encodeArgs gives v as compact JSON that Postgres takes, or an *InputError that
// names the path of what it would not. limit is in bytes; 0 means
// DefaultArgsLimit.
//
// A Go string that is not valid UTF-8 is refused: encoding/json would quietly
// put U+FFFD in its place, and the handler would see other data than was
// enqueued. It is told by the escape \ufffd, which encoding/json writes for
// nothing else; hence that escape is refused in a json.RawMessage field too.
func encodeArgs(v any, limit int) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", inputError("args", "%T has no JSON form: %v", v, err)
	}
	return scanArgs(b.Bytes(), limit, true)
}

// checkRawArgs does the same for JSON text from outside. Numbers keep their
// digits, keys may repeat (the last counts, as in Postgres), white space goes.
func checkRawArgs(raw []byte, limit int) (string, error) {
	return scanArgs(raw, limit, false)
}

// decodeArgs reads a job's arguments into v, a pointer. Numbers that land in an
// interface keep their digits as json.Number. The error names the field.
func decodeArgs(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err := d.Decode(v)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		field := "args"
		if wrong.Field != "" {
			field += "." + wrong.Field
		}
		return &decodeError{fmt.Sprintf("%s: cannot read %s as %s", field, wrong.Value, wrong.Type), err}
	}
	if err != nil {
		return &decodeError{"args: " + strings.TrimPrefix(err.Error(), "json: "), err}
	}
	return nil
}

// decodeError words a failed decode for the job page and keeps the cause.
type decodeError struct {
	text  string
	cause error
}

func (e *decodeError) Error() string { return e.text }
func (e *decodeError) Unwrap() error { return e.cause }
