package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"net/url"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/idempotency"
)

const (
	headerKey      = "Idempotency-Key"
	headerReplayed = "Idempotent-Replayed"

	// maxRequestKey leaves room for the user's name in the key of the claim.
	maxRequestKey = 128
	// keyWait is how long a request waits for one with its key that runs.
	keyWait = time.Second
)

// enqueueOnce enqueues under the key of the request, if it has one: the job and the
// key's receipt commit together. Keys of one use are told apart from those of
// others; content is what a request that comes again has to say again.
func (r *request) enqueueOnce(ctx context.Context, use string, content func() ([]byte, error), enqueue func(context.Context, jobs.Querier) (apiEnqueued, error)) (done apiEnqueued, err error) {
	if r.Get(headerKey) == "" {
		return enqueue(ctx, nil)
	}
	key, err := r.requestKey(use)
	if err != nil {
		return done, err
	}
	said, err := content()
	if err != nil {
		return done, err
	}
	receipt, replayed, err := r.d.claimsOf.Once(ctx, key, keyWait, func(ctx context.Context, tx jobs.Querier) (any, error) {
		return enqueue(ctx, tx)
	}, idempotency.Content(said))
	var busy *idempotency.BusyError
	var other *idempotency.MismatchError
	var unknown *idempotency.UnknownError
	switch {
	case errors.As(err, &busy):
		r.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(keyWait.Seconds()))))
		return done, problem{refuse(fiber.StatusConflict, "Another request with this Idempotency-Key, or for the same unique job, still runs. Send this one again in a moment."), "key-busy", nil}
	case errors.As(err, &unknown):
		return done, problem{refuse(fiber.StatusConflict, "The claim of this Idempotency-Key waits for the decision of a person, on the Claims page."), "key-held", nil}
	case errors.As(err, &other):
		return done, problem{refuse(fiber.StatusUnprocessableEntity, "This Idempotency-Key was used for something else. A new request needs a new key."), "key-reused", nil}
	case err != nil:
		return done, err
	}
	if replayed {
		r.Set(headerReplayed, "true")
	}
	return done, json.Unmarshal(receipt, &done)
}

// requestKey is the claim's key: each user has keys of their own, so that nobody
// meets the answer of somebody else.
func (r *request) requestKey(use string) (idempotency.Key, error) {
	sent := r.Get(headerKey)
	text := sent
	if len(sent) >= 2 && sent[0] == '"' && sent[len(sent)-1] == '"' { // the string of RFC 8941
		text = sent[1 : len(sent)-1]
	}
	if text == "" || len(text) > maxRequestKey {
		return idempotency.Key{}, badInput("Field %s: has %d bytes; it may have 1 to %d.", headerKey, len(text), maxRequestKey)
	}
	if err := idempotency.RawKey(text).Err(); err != nil {
		return idempotency.Key{}, badInput("Field %s: %s.", headerKey, problemOf(err))
	}
	return r.userKey(use, text), nil
}

// userKey is a key of the signed-in user's own.
func (r *request) userKey(area, text string) idempotency.Key {
	user := url.QueryEscape(r.who.Name)
	if len(user) > 100 {
		sum := sha256.Sum256([]byte(user))
		user = hex.EncodeToString(sum[:])
	}
	return idempotency.RawKey(area + ":" + user + ":" + text)
}

func problemOf(err error) string {
	if input, ok := errors.AsType[*idempotency.InputError](err); ok {
		return input.Problem
	}
	return err.Error()
}

// canonical is the content of a request for comparison: white space and the order of
// members do not count, every digit does.
func canonical(body []byte) ([]byte, error) {
	var value any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}
