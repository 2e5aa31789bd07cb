package jobs

import (
	"encoding/json"
)

// MaxResult is the largest result of a job in bytes of JSON.
const MaxResult = 8 << 10

// SetResult keeps v as the job's result: it is written with the success, shown
// on the job's page and removed with the job. The last call counts; an attempt
// that fails keeps none. A value that is no JSON or larger than MaxResult is
// refused.
func (j *Job[T]) SetResult(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return &InputError{Field: "result", Problem: err.Error()}
	}
	clean, err := checkResult(text)
	if err != nil {
		return err
	}
	if j.attempt != nil {
		j.attempt.result = clean
	}
	return nil
}

// checkResult lets through what jsonb can hold.
func checkResult(text []byte) (string, error) {
	if len(text) > MaxResult {
		return "", inputError("result", "has %d bytes of JSON: at most %d", len(text), MaxResult)
	}
	wrapped := append(append([]byte(`{"result":`), text...), '}')
	return checkRawArgs(wrapped, MaxResult+64)
}
