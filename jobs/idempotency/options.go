package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tekrar/tekrar/jobs"
)

// Policy says what to do about an effect that began and may have happened.
type Policy int

// The policies. A provider that honours keys is sent the same key again (Resend
// with KeyLife): it replays. Without such a provider Hold never doubles an effect,
// and Resend never loses one.
const (
	Hold   Policy = iota // the job fails with "outcome unknown"; an operator decides. The default
	Resend               // do it again
)

// Answer is what a provider says about an earlier effect.
type Answer int

// The answers to a probe.
const (
	NoAnswer Answer = iota // it cannot say: as Hold
	Happened               // done, with the receipt
	NotThere               // it did not happen: do it now
)

// Probe asks the provider whether the effect of a claim happened.
type Probe func(ctx context.Context, c *Claim) (answer Answer, receipt any, err error)

// Option configures one claim.
type Option func(*options) error

type options struct {
	onUnknown   Policy
	probe       Probe
	keyLife     time.Duration
	margin      time.Duration
	staleAfter  time.Duration
	fingerprint string
	beginInside bool
}

// OnUnknown sets what to do about an effect in doubt. Default Hold.
func OnUnknown(p Policy) Option {
	return func(o *options) error { o.onUnknown = p; return nil }
}

// AskFirst makes Do ask the provider about an effect in doubt. Claim itself holds then.
func AskFirst(p Probe) Option {
	return func(o *options) error { o.probe = p; return nil }
}

// KeyLife says how long the provider remembers a key, counted from the first
// possible effect, and which last part of that not to rely on. Begin refuses once
// it is over. Default: no limit.
func KeyLife(life, margin time.Duration) Option {
	return func(o *options) error {
		o.keyLife, o.margin = life, margin
		if life <= 0 || margin < 0 || margin >= life {
			return &InputError{Field: "key life", Problem: fmt.Sprintf("%v with margin %v: the margin is 0 or more and below the life", life, margin)}
		}
		return nil
	}
}

// StaleAfter overrides Config.StaleAfter for one claim, at least 1 s.
func StaleAfter(d time.Duration) Option {
	return func(o *options) error {
		o.staleAfter = d
		if d < time.Second {
			return &InputError{Field: "StaleAfter", Problem: fmt.Sprintf("%v is below 1s", d)}
		}
		return nil
	}
}

// Content fingerprints what is sent: bytes as they are, anything else as JSON. A
// key that began with other content is refused (MismatchError).
func Content(v any) Option {
	return func(o *options) error {
		b, ok := v.([]byte)
		if !ok {
			var err error
			if b, err = json.Marshal(v); err != nil {
				return &InputError{Field: "content", Problem: fmt.Sprintf("has no JSON form: %v", err)}
			}
		}
		sum := sha256.Sum256(b)
		o.fingerprint = hex.EncodeToString(sum[:])
		return nil
	}
}

// BeginInside leaves Begin to the function given to Do, which calls it right
// before the effect. An error before that is known to have done nothing, so the
// claim is released. An effect without Begin would be done twice after such an error.
func BeginInside() Option {
	return func(o *options) error { o.beginInside = true; return nil }
}

func (c *Claims) options(opts []Option) (options, error) {
	o := options{staleAfter: c.cfg.StaleAfter}
	for _, opt := range opts {
		if err := opt(&o); err != nil {
			return o, jobs.Permanent(err)
		}
	}
	return o, nil
}
