package outbound

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/tekrar/tekrar/jobs"
)

// verdict is what one call proves about the effect.
type verdict int

const (
	delivered verdict = iota // it happened
	definite                 // it did not happen
	ambiguous                // nobody here knows
	running                  // an earlier request with the key still runs
	reused                   // the key belongs to other content
)

const (
	// defaultPoll is the wait for a request in flight when the provider names none.
	defaultPoll = 2 * time.Second
	// longestPoll bounds it: a provider that says "in an hour" about a request
	// that takes seconds shall not hold the job that long.
	longestPoll = time.Minute
)

// judge reads the answer. Whatever is not certain is ambiguous.
func (p Profile) judge(r Response) verdict {
	switch {
	case p.inFlight(r.Status):
		return running
	case p.mismatch(r):
		return reused
	case r.Status == http.StatusTooManyRequests:
		return definite
	case r.Status == http.StatusRequestTimeout || r.Status == http.StatusConflict:
		return ambiguous
	case r.Status >= 400 && r.Status < 500:
		return definite
	case r.Status < 200 || r.Status > 299:
		return ambiguous // a redirect too: nothing says what was done before it
	case !p.own(r), r.broken != nil && p.Honours(): // a repeated request brings the whole answer
		return ambiguous
	}
	return delivered
}

// failure is the error of a call that was answered but did not deliver.
func (p Profile) failure(v verdict, r Response) error {
	after := retryAfter(r.Header.Get("Retry-After"), time.Now())
	switch v {
	case delivered:
		return nil
	case running:
		wait := defaultPoll
		if after > 0 {
			wait = min(after, longestPoll)
		}
		e := &InFlight{Provider: p.Name, Status: r.Status, Wait: wait}
		return fmt.Errorf("%w (%w)", e, jobs.Snooze(wait))
	case reused:
		return jobs.Permanent(&KeyReused{Provider: p.Name, Status: r.Status})
	case definite:
		e := &Refused{Provider: p.Name, Status: r.Status, RetryAfter: after}
		if after > 0 {
			return jobs.RetryAfter(e, after)
		}
		return e
	}
	e := &Unknown{Provider: p.Name, Status: r.Status, Replayed: r.Replayed, Err: r.broken}
	switch {
	case r.Replayed && r.Status >= 500:
		// The provider stored its failure under the key: it says the same for ever.
		return jobs.Permanent(e)
	case r.Status >= 200 && r.Status < 300 && r.broken == nil:
		e.Err = fmt.Errorf("status %d with content type %q, want %q", r.Status, r.contentType(), p.ContentType)
	case r.Status >= 300 && r.Status < 400:
		e.Err = fmt.Errorf("status %d redirects, which is not followed", r.Status)
	}
	if after > 0 {
		return jobs.RetryAfter(e, after)
	}
	return e
}

// retryAfter reads seconds or an HTTP date; 0 means absent, past or nonsense.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(value); err == nil {
		return min(time.Duration(max(seconds, 0)), jobs.MaxWait/time.Second) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), jobs.MaxWait)
	}
	return 0
}
