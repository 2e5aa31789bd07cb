// Package outbound calls providers whose effects must happen once: it sends the
// idempotency key as the provider wants it, keeps Go's own transport from sending
// twice, tells a certain failure from an unknown outcome, and marks the claim.
package outbound

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// Client calls one provider. It is safe for concurrent use; set its fields before
// the first call.
type Client struct {
	// Profile of the provider. The zero value is one without keys.
	Profile Profile

	// HTTP makes the requests. Its redirects are not followed. Nil: a client of its
	// own, whose connections count what was written, so that a connection that
	// broke unused is a certain failure; with another one a request whose head was
	// written counts as sent.
	HTTP *http.Client

	// Timeout of one call, the answer's body included. Zero: 15 s. Keep it below
	// the lease of the job's server, which is 30 s unless configured.
	Timeout time.Duration

	// Log keeps a row a call. Nil: the database of the job that calls; none outside
	// of a job.
	Log CallLog

	// Logger for what a call cannot return. Nil: the job's.
	Logger *slog.Logger

	once sync.Once
	http *http.Client
}

// Claim is the part of an idempotency claim that a call moves; *idempotency.Claim is one.
type Claim interface {
	// Begin is asked right before the request is sent. Its error stops the call.
	Begin(ctx context.Context) error
	// Done keeps the provider's answer, a Receipt: the effect happened.
	Done(ctx context.Context, receipt any) error
	// Release gives the claim up: the effect certainly did not happen.
	Release(ctx context.Context, reason string) error
	// Unknown keeps that the effect may have happened.
	Unknown(ctx context.Context, cause error) error
}

// Receipt is what Do keeps with a claim.
type Receipt struct {
	Provider  string    `json:"provider"`
	Reference string    `json:"reference,omitempty"`
	Status    int       `json:"status"`
	Replayed  bool      `json:"replayed,omitempty"`
	At        time.Time `json:"at"`
}

const (
	defaultTimeout = 15 * time.Second
	maxRequest     = 32 << 20 // bytes of a request's body
)

// Do sends req with key and marks the claim; nil means that there is none. The
// same key must always come with the same request.
//
// The error is nil only if the effect happened. Else it wraps *Refused (certainly
// not; the claim is released), *Unknown (perhaps), *InFlight (an earlier request
// runs; the job snoozes) or *KeyReused (permanent). Name *Refused in the policy's
// ExceptOn where the provider's refusals are final. An error of the claim is
// returned beside the answer.
func (c *Client) Do(req *http.Request, key string, claim Claim) (Response, error) {
	sent, err := c.Profile.Sent(key)
	if err != nil {
		return Response{}, jobs.Permanent(fmt.Errorf("%s: idempotency key: %w", c.Profile.Name, err))
	}
	body, err := content(req)
	if err != nil {
		return Response{}, fmt.Errorf("%s: read request: %w", c.Profile.Name, err)
	}
	if claim != nil {
		if err := claim.Begin(req.Context()); err != nil {
			return Response{}, err
		}
	}
	call := store.ProviderCall{Provider: c.Profile.Name, Key: key, SentKey: sent, Payload: payload(req, body)}
	if job, ok := jobs.Current(req.Context()); ok {
		call.JobID, call.Attempt = job.JobID, job.Attempt
	}
	id := c.begin(req.Context(), call)
	resp, v, err := c.send(req, sent, body)
	call.Status, call.Outcome, call.Replayed = resp.Status, outcomes[v], resp.Replayed
	call.Reference, call.Duration = resp.Reference, resp.Took
	if err != nil {
		call.Error = err.Error()
	}
	c.end(req.Context(), id, call)
	if claim == nil {
		return resp, err
	}
	return resp, errors.Join(err, c.mark(req.Context(), claim, v, resp, err))
}

// send makes one request, never two.
func (c *Client) send(req *http.Request, sent string, body []byte) (Response, verdict, error) {
	limit := c.limit()
	late := fmt.Errorf("no answer within %v", limit)
	ctx, cancel := context.WithTimeoutCause(req.Context(), limit, late)
	defer cancel()
	var w wire
	began := time.Now()
	raw, err := c.client().Do(c.prepare(w.trace(ctx), req, sent, body))
	if err == nil {
		resp := c.Profile.read(raw)
		resp.Took = time.Since(began)
		if resp.broken != nil && ctx.Err() != nil {
			resp.broken = context.Cause(ctx)
		}
		v := c.Profile.judge(resp)
		return resp, v, c.Profile.failure(v, resp)
	}
	resp := Response{Took: time.Since(began)}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	// url.Error repeats the address, whose query may hold a secret.
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	if w.wroteNothing() {
		return resp, definite, &Refused{Provider: c.Profile.Name, Err: err}
	}
	return resp, ambiguous, &Unknown{Provider: c.Profile.Name, Err: err}
}

// prepare makes the request that is really sent. http.Transport sends a POST a
// second time by itself when a reused connection breaks, if the request has an
// idempotency key and a body that it can rewind or none at all. Without GetBody it
// cannot rewind; and it finds the key only under its canonical name, so a request
// without body carries it in lower case, which is the same header to a server.
func (c *Client) prepare(ctx context.Context, req *http.Request, sent string, body []byte) *http.Request {
	out := req.Clone(ctx)
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key", c.Profile.Header} {
		drop(out.Header, name)
	}
	name := http.CanonicalHeaderKey(c.Profile.Header)
	if len(body) == 0 {
		out.Body, out.ContentLength = http.NoBody, 0
		name = strings.ToLower(name)
	} else {
		out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	out.GetBody = nil
	if sent != "" {
		out.Header[name] = []string{c.Profile.headerValue(sent)}
	} else {
		// An idle connection may be closed by the server at the moment it is
		// used, which cannot be told from a request that was processed.
		out.Close = true
	}
	return out
}

// mark moves the claim as the call showed, also when the job's context has ended.
func (c *Client) mark(ctx context.Context, claim Claim, v verdict, r Response, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordWait)
	defer cancel()
	switch v {
	case delivered:
		return claim.Done(ctx, Receipt{Provider: c.Profile.Name, Reference: r.Reference,
			Status: r.Status, Replayed: r.Replayed, At: time.Now().UTC()})
	case definite:
		return claim.Release(ctx, cause.Error())
	}
	// In flight and reused as well: an earlier request with this key went out.
	return claim.Unknown(ctx, cause)
}

// LookUp asks the provider what became of key, if it can be asked.
func (c *Client) LookUp(ctx context.Context, key string) (Found, error) {
	if c.Profile.LookUp == nil {
		return Found{}, fmt.Errorf("%s cannot be asked for a key: Profile.LookUp is nil", c.Profile.Name)
	}
	sent, err := c.Profile.Sent(key)
	if err != nil {
		return Found{}, err
	}
	if !c.Profile.Honours() {
		sent = key // as a reference of ours in the request, perhaps
	}
	ctx, cancel := context.WithTimeout(ctx, c.limit())
	defer cancel()
	found, err := c.Profile.LookUp(ctx, c.client(), sent)
	if err != nil {
		return Found{}, fmt.Errorf("%s: look up key: %w", c.Profile.Name, err)
	}
	return found, nil
}
