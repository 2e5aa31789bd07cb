package outbound

import (
	"context"
	"net/http"
	"time"
)

// Form is how a key is written into the header.
type Form int

const (
	// Raw writes the key as it is: Idempotency-Key: invoice-email:42
	Raw Form = iota
	// Quoted writes an RFC 8941 string: Idempotency-Key: "invoice-email:42"
	Quoted
)

// Profile says what one provider does with idempotency keys. The zero value is a
// provider without keys that answers anything. Take one of the profiles of this
// package and change what your provider's manual says otherwise.
type Profile struct {
	// Name of the provider, shown with each call.
	Name string

	// Header that carries the key. Empty: the provider knows no keys, so none is
	// sent, and a second request is a second effect.
	Header string
	Form   Form

	// MaxLength of a key in bytes, without quotes. A longer key is sent as its
	// hash, which is as stable as the key. Zero: 255.
	MaxLength int

	// KeyLife is how long the provider remembers a key, from its first request.
	// After it the key is a new one, and the same request a second effect. Zero
	// means for ever, or that there are no keys.
	KeyLife time.Duration

	// ReplayHeader is set by the provider, to ReplayValue ("" means any), when it
	// repeats an earlier answer; ReplayField is a boolean member of the JSON
	// answer that says the same. Empty: replays cannot be told.
	ReplayHeader, ReplayValue string
	ReplayField               string

	// MismatchStatus: the key came before with another content. Zero: 422.
	// InFlightStatus: the first request with the key still runs. Zero: 409.
	// Both count only where Header is set.
	MismatchStatus, InFlightStatus int

	// Mismatch recognises the first of them where the status alone does not tell
	// it from other refusals. Nil: the status does.
	Mismatch func(Response) bool

	// ContentType of an answer that is the provider's own, without parameters:
	// "application/json". A success with another one comes from something in
	// between, such as a maintenance page, and proves nothing. Empty: any.
	ContentType string

	// ReferenceField is the member of the JSON answer that names the effect at
	// the provider. Empty: none.
	ReferenceField string

	// LookUp asks the provider what became of a key, as it was sent; of a provider
	// without keys it gets the key itself, which the request may hold as a reference
	// of yours. A request that is still on its way is not found: wait longer than
	// such a one can take. Nil: the provider cannot be asked.
	LookUp func(ctx context.Context, c *http.Client, key string) (Found, error)
}

// Found is what a provider says about a key.
type Found struct {
	Known     bool   // it has seen the key
	Running   bool   // the first request still runs
	Reference string // of the effect, if it is done
}

// Honours reports that the provider is declared to honour keys.
func (p Profile) Honours() bool { return p.Header != "" }

// Article is the mail provider of "Idempotent jobs": a raw key that lives a day,
// and a replay that says so in a header and in the answer.
func Article() Profile {
	return Profile{Name: "article", Header: "Idempotency-Key", KeyLife: 24 * time.Hour,
		ReplayHeader: "Idempotent-Replayed", ReplayValue: "true", ReplayField: "replayed",
		ContentType: "application/json", ReferenceField: "messageId"}
}

// IETF follows draft-ietf-httpapi-idempotency-key-header-08: the key is a
// structured-field string. The draft leaves its life to the provider: set KeyLife.
func IETF() Profile {
	return Profile{Name: "ietf", Header: "Idempotency-Key", Form: Quoted, KeyLife: 24 * time.Hour,
		ContentType: "application/json"}
}

// StripeLike keeps keys of up to 255 bytes for 24 hours and replays errors too. A
// key with another content gets 400 with error.type "idempotency_error".
func StripeLike() Profile {
	return Profile{Name: "stripe-like", Header: "Idempotency-Key", MaxLength: 255, KeyLife: 24 * time.Hour,
		ReplayHeader: "Idempotent-Replayed", ReplayValue: "true", ContentType: "application/json", ReferenceField: "id",
		Mismatch: func(r Response) bool {
			var answer struct {
				Error struct {
					Type string `json:"type"`
				} `json:"error"`
			}
			return r.Status == http.StatusBadRequest && r.JSON(&answer) == nil && answer.Error.Type == "idempotency_error"
		}}
}

// PayPalLike has a header of its own for keys of up to 38 bytes, kept six hours,
// and replays without a mark.
func PayPalLike() Profile {
	return Profile{Name: "paypal-like", Header: "PayPal-Request-Id", MaxLength: 38, KeyLife: 6 * time.Hour,
		ContentType: "application/json", ReferenceField: "id"}
}

// ShortMail is a mail provider that forgets a key after five minutes: retries of
// the usual policies outlive it.
func ShortMail() Profile {
	p := Article()
	p.Name, p.KeyLife = "short-mail", 5*time.Minute
	return p
}

// NoKeys is a provider that knows no keys. What was sent and not answered stays
// unknown until a person, or LookUp, says more.
func NoKeys() Profile {
	return Profile{Name: "no-keys", ContentType: "application/json", ReferenceField: "messageId"}
}

func (p Profile) mismatch(r Response) bool {
	if p.Mismatch != nil {
		return p.Honours() && p.Mismatch(r)
	}
	return p.Honours() && r.Status == or(p.MismatchStatus, http.StatusUnprocessableEntity)
}

func (p Profile) inFlight(status int) bool {
	return p.Honours() && status == or(p.InFlightStatus, http.StatusConflict)
}

func or(value, fallback int) int {
	if value != 0 {
		return value
	}
	return fallback
}
