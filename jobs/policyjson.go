package jobs

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
)

// publishedBands is how many waits a published policy spells out. The page draws
// no more, and the window tells the rest.
const publishedBands = 20

// PublishedPolicy is a retry policy as servers publish it with their kinds and
// as a job carries its own: what a process without the Go code needs in order to
// draw the plan. Functions and matchers are there by name only.
type PublishedPolicy struct {
	MaxRetries int               `json:"max_retries"`
	OnExceeded string            `json:"on_exceeded"`       // "fail" or "delete"
	Delays     []string          `json:"delays,omitempty"`  // as time.Duration writes them: "2s"
	Backoff    *PublishedBackoff `json:"backoff,omitempty"` // nil if Delays is set
	ExceptOn   []string          `json:"except_on,omitempty"`
	OnlyOn     []string          `json:"only_on,omitempty"`

	// Bands holds the shortest and longest wait before each of the first 20
	// retries, and the window those of all retries together. Both are absent
	// (the window 0) when a function computes the waits.
	Bands       []WaitBand `json:"bands,omitempty"`
	WindowMinMS int64      `json:"window_min_ms"`
	WindowMaxMS int64      `json:"window_max_ms"`

	// Warnings are what CheckPlan found about the kind that it was published with.
	Warnings []string `json:"warnings,omitempty"`
}

// PublishedBackoff is a Backoff in JSON.
type PublishedBackoff struct {
	Kind    string  `json:"kind"`              // "hangfire", "fixed", "exponential" or "func"
	Initial string  `json:"initial,omitempty"` // fixed: the wait; exponential: the first
	Factor  float64 `json:"factor,omitempty"`
	Limit   string  `json:"limit,omitempty"`
	Jitter  float64 `json:"jitter,omitempty"`
}

// WaitBand is the shortest and the longest wait before retry N, in milliseconds;
// the longest is rounded up.
type WaitBand struct {
	N     int   `json:"n"`
	MinMS int64 `json:"min_ms"`
	MaxMS int64 `json:"max_ms"`
}

// Publish gives the published form of a valid policy.
func (p RetryPolicy) Publish() PublishedPolicy {
	out := PublishedPolicy{MaxRetries: p.MaxRetries, OnExceeded: p.OnExceeded.String(),
		ExceptOn: matcherNames(p.ExceptOn), OnlyOn: matcherNames(p.OnlyOn)}
	for _, d := range p.Delays {
		out.Delays = append(out.Delays, d.String())
	}
	if p.Delays == nil {
		out.Backoff = p.Backoff.publish()
		if p.Backoff.kind == backoffFunc {
			return out
		}
	}
	for n := 1; n <= min(p.MaxRetries, publishedBands); n++ {
		lo, hi := p.WaitBand(n)
		out.Bands = append(out.Bands, WaitBand{N: n, MinMS: lo.Milliseconds(), MaxMS: ceilMS(hi)})
	}
	lo, hi := p.Window()
	out.WindowMinMS, out.WindowMaxMS = lo.Milliseconds(), ceilMS(hi)
	return out
}

func (b Backoff) publish() *PublishedBackoff {
	switch b.kind {
	case backoffFixed:
		return &PublishedBackoff{Kind: string(b.kind), Initial: b.initial.String()}
	case backoffExponential:
		return &PublishedBackoff{Kind: string(b.kind), Initial: b.initial.String(),
			Factor: b.factor, Limit: b.most().String(), Jitter: b.jitter}
	case backoffFunc:
		return &PublishedBackoff{Kind: string(b.kind)}
	}
	return &PublishedBackoff{Kind: string(backoffHangfire)}
}

func matcherNames(list []Matcher) (names []string) {
	for _, m := range list {
		names = append(names, cleanText(clip(m.String(), maxErrorLine), maxErrorText))
	}
	return names
}

func ceilMS(d time.Duration) int64 {
	if d > math.MaxInt64-time.Millisecond {
		return d.Milliseconds()
	}
	return (d + time.Millisecond - 1).Milliseconds()
}

// encodePolicy is the JSON text for the kinds table.
func encodePolicy(p RetryPolicy, warnings ...string) (string, error) {
	published := p.Publish()
	published.Warnings = warnings
	text, err := json.Marshal(published)
	return string(text), err
}

// encodeJobPolicy is the JSON text for a job's own policy. Whichever server runs
// the job must be able to read it back, so functions and matchers are refused;
// the matchers of the kind go on to apply (see effectivePolicy).
func encodeJobPolicy(p RetryPolicy) (string, error) {
	var errs []error
	refuse := func(field, what string) {
		errs = append(errs, inputError("RetryPolicy."+field, "%s cannot be stored with a job: give it to the kind, at registration", phrase(what)))
	}
	if p.Delays == nil && p.Backoff.kind == backoffFunc {
		refuse("Backoff", "a Func")
	}
	if len(p.ExceptOn) > 0 {
		refuse("ExceptOn", "a matcher")
	}
	if len(p.OnlyOn) > 0 {
		refuse("OnlyOn", "a matcher")
	}
	if err := errors.Join(append(errs, p.Validate())...); err != nil {
		return "", err
	}
	return encodePolicy(p)
}

// ParsePolicy reads what a server or an enqueue wrote. Unknown fields are left
// alone: a newer server may write more.
func ParsePolicy(raw []byte) (PublishedPolicy, error) {
	var out PublishedPolicy
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, fmt.Errorf("read retry policy: %w", err)
	}
	return out, nil
}

// RetryPolicy rebuilds the policy, without its matchers. It fails for a Func,
// and for values that Validate refuses.
func (s PublishedPolicy) RetryPolicy() (RetryPolicy, error) {
	p := RetryPolicy{MaxRetries: s.MaxRetries}
	var err error
	duration := func(text string) (d time.Duration) {
		if text != "" && err == nil {
			d, err = time.ParseDuration(text)
		}
		return d
	}
	switch s.OnExceeded {
	case "", Fail.String():
	case Delete.String():
		p.OnExceeded = Delete
	default:
		err = fmt.Errorf("on_exceeded %q is neither fail nor delete", s.OnExceeded)
	}
	for _, text := range s.Delays {
		p.Delays = append(p.Delays, duration(text))
	}
	if b := s.Backoff; b != nil && p.Delays == nil {
		switch backoffKind(b.Kind) {
		case backoffHangfire:
			p.Backoff = Hangfire()
		case backoffFixed:
			p.Backoff = Fixed(duration(b.Initial))
		case backoffExponential:
			p.Backoff = Exponential(duration(b.Initial), b.Factor, duration(b.Limit), b.Jitter)
		default:
			err = fmt.Errorf("backoff %q cannot be rebuilt", b.Kind)
		}
	}
	if err == nil {
		err = p.Validate()
	}
	if err != nil {
		return RetryPolicy{}, fmt.Errorf("read retry policy: %w", err)
	}
	return p, nil
}

// effectivePolicy picks the policy of a failure and says where it came from:
// "job", "kind" or "client". A job's own policy sets the number, the waits and
// the end; it cannot hold matchers, so those that apply without it still apply.
func effectivePolicy(job, kind *RetryPolicy, client RetryPolicy) (p RetryPolicy, from string) {
	p, from = client, "client"
	if p.isZero() {
		p = DefaultRetry()
	}
	if kind != nil {
		p, from = *kind, "kind"
	}
	if job != nil {
		own := *job
		own.ExceptOn, own.OnlyOn = p.ExceptOn, p.OnlyOn
		p, from = own, "job"
	}
	return p, from
}
