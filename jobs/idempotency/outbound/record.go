package outbound

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// CallLog keeps one row a call; *jobs.DB is one. A call is never held up by its
// log: what goes wrong there is only reported to Client.Logger.
type CallLog interface {
	BeginCall(ctx context.Context, c store.ProviderCall) (id int64, err error)
	EndCall(ctx context.Context, id int64, c store.ProviderCall) error
}

var outcomes = map[verdict]string{
	delivered: "delivered", definite: "refused", ambiguous: "unknown", running: "in_flight", reused: "key_reused",
}

// recordWait bounds the writes that must happen although the job's context ended.
const recordWait = 10 * time.Second

// begin records a call that is about to be made.
func (c *Client) begin(ctx context.Context, call store.ProviderCall) (id int64) {
	log := c.log(ctx)
	if log == nil {
		return 0
	}
	id, err := log.BeginCall(ctx, call)
	if err != nil {
		c.logger(ctx).WarnContext(ctx, "a provider call is not recorded", "provider", call.Provider, "key", call.Key, "err", err)
	}
	return id
}

// end completes the record. It comes before the claim's mark: where that mark is
// lost, the receipt still stands here.
func (c *Client) end(ctx context.Context, id int64, call store.ProviderCall) {
	c.logger(ctx).DebugContext(ctx, "provider call", "provider", call.Provider, "key", call.Key, "status", call.Status,
		"outcome", call.Outcome, "replayed", call.Replayed, "reference", call.Reference, "took", call.Duration)
	log := c.log(ctx)
	if log == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordWait)
	defer cancel()
	var err error
	if id == 0 {
		id, err = log.BeginCall(ctx, call)
	}
	if err == nil {
		err = log.EndCall(ctx, id, call)
	}
	if err != nil {
		c.logger(ctx).WarnContext(ctx, "the answer of a provider is not recorded", "provider", call.Provider, "key", call.Key,
			"status", call.Status, "outcome", call.Outcome, "reference", call.Reference, "err", err)
	}
}

func (c *Client) log(ctx context.Context) CallLog {
	if c.Log != nil {
		return c.Log
	}
	if job, ok := jobs.Current(ctx); ok && job.DB != nil {
		return job.DB
	}
	return nil
}

// payload tells one request from another without keeping it.
func payload(req *http.Request, body []byte) string {
	h := sha256.New()
	h.Write([]byte(req.Method + "\n" + req.URL.String() + "\n"))
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil)[:16])
}
