package outbound

import (
	"fmt"
	"time"
)

// Refused: the effect did not happen, and that is certain. The provider said so,
// or the request never reached it. A retry is safe.
type Refused struct {
	Provider   string
	Status     int           // 0: nothing was sent
	RetryAfter time.Duration // as the provider asked; 0: it did not
	Err        error         // why nothing was sent
}

func (e *Refused) Unwrap() error { return e.Err }

func (e *Refused) Error() string {
	if e.Status == 0 {
		return fmt.Sprintf("%s: nothing was sent: %v", e.Provider, e.Err)
	}
	return fmt.Sprintf("%s refused with status %d", e.Provider, e.Status)
}

// Unknown: the request went out, and whether the effect happened is not known.
type Unknown struct {
	Provider string
	Status   int  // 0: no answer arrived
	Replayed bool // the answer is an old one: asking again brings the same
	Err      error
}

func (e *Unknown) Unwrap() error { return e.Err }

func (e *Unknown) Error() string {
	switch {
	case e.Replayed:
		return fmt.Sprintf("%s repeats its earlier status %d: outcome unknown", e.Provider, e.Status)
	case e.Err != nil:
		return fmt.Sprintf("%s: outcome unknown: %v", e.Provider, e.Err)
	}
	return fmt.Sprintf("%s answered with status %d: outcome unknown", e.Provider, e.Status)
}

// InFlight: an earlier request with the key still runs at the provider. The job
// asks again later, which uses no retry.
type InFlight struct {
	Provider string
	Status   int
	Wait     time.Duration
}

func (e *InFlight) Error() string {
	return fmt.Sprintf("%s still works on an earlier request with this key: asking again in %v", e.Provider, e.Wait)
}

// KeyReused: the provider knows the key with another content. No retry helps: new
// content needs a new key (Key.Version), old content must be built the same again.
type KeyReused struct {
	Provider string
	Status   int
}

func (e *KeyReused) Error() string {
	return fmt.Sprintf("%s: key reused with other content (status %d)", e.Provider, e.Status)
}

// Rule is what the job page names as the rule that decided.
func (e *KeyReused) Rule() string { return "key reused with other content" }

// Rule is what the job page names as the rule that decided.
func (e *Unknown) Rule() string { return "outcome unknown" }
