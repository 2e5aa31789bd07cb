package outbound

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

func TestReceipt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		answer   answer
		replayed bool
		ref      string
	}{
		{answer{200, "", `{"messageId":"msg-0001","replayed":false}`}, false, "msg-0001"},
		{answer{200, "", `{"messageId":"msg-0001","replayed":true}`}, true, "msg-0001"},
		{answer{200, "Idempotent-Replayed: true", `{"messageId":"msg-0001"}`}, true, "msg-0001"},
		{answer{200, "Idempotent-Replayed: false", `{"messageId":7}`}, false, "7"},
		{answer{200, "", `{"messageId":{"a":1}}`}, false, ""},
		{answer{200, "", `["messageId"]`}, false, ""},
		{answer{200, "", `{"messageId":"a\u0000\nb` + strings.Repeat("x", 300) + `"}`}, false, "ab" + strings.Repeat("x", 253)},
	} {
		c, claim := newClient(t, Article()), &claims{}
		resp, err := c.Do(post(t, answering(t, tt.answer.serve), "x"), "k", claim)
		if err != nil || resp.Replayed != tt.replayed || resp.Reference != tt.ref {
			t.Errorf("%s: %+v, %v", tt.answer.body, resp, err)
		}
		if claim.receipt.Reference != tt.ref || claim.receipt.Replayed != tt.replayed || claim.receipt.Provider != "article" || claim.receipt.At.IsZero() {
			t.Errorf("receipt %+v", claim.receipt)
		}
	}
}

// A claim that may not begin sends nothing.
func TestBeginRefused(t *testing.T) {
	t.Parallel()
	var served atomic.Int64
	url := answering(t, func(w http.ResponseWriter, r *http.Request) { served.Add(1) })
	lost, c := errors.New("claim lost"), newClient(t, Article())
	_, err := c.Do(post(t, url, "x"), "k", &claims{refuse: lost})
	if !errors.Is(err, lost) || served.Load() != 0 || len(c.Log.(*calls).begun) != 0 {
		t.Errorf("%v, %d requests", err, served.Load())
	}
}

// The answer is marked although the job's context ended meanwhile.
func TestMarkedAfterTheContextEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	url := answering(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	})
	c, claim := newClient(t, Article()), &claims{}
	_, err := c.Do(post(t, url, "x").WithContext(ctx), "k", claim)
	if _, ok := errors.AsType[*Unknown](err); !ok || claim.told() != "begin unknown" || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, claim %s", err, claim.told())
	}
}

// A log that fails never stops a call, and a row that could not be begun is written whole.
func TestBrokenLog(t *testing.T) {
	t.Parallel()
	c, claim := newClient(t, Article()), &claims{}
	c.Log = &calls{fail: errors.New("database down")}
	if _, err := c.Do(post(t, answering(t, answer{200, "", "{}"}.serve), "x"), "k", claim); err != nil || claim.told() != "begin done" {
		t.Errorf("%v, claim %s", err, claim.told())
	}
	if c.Log = nil; true {
		if _, err := c.Do(post(t, answering(t, answer{200, "", "{}"}.serve), "x"), "k", nil); err != nil {
			t.Error(err)
		}
	}
}

func TestCallsAreRows(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	var n atomic.Int64
	url := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 1 {
			answer{503, "", `{"secret":"s3cret-answer"}`}.serve(w, r)
			return
		}
		answer{200, "Idempotent-Replayed: true", `{"messageId":"msg-0001","secret":"s3cret-answer"}`}.serve(w, r)
	})
	c := newClient(t, IETF())
	c.Profile.ReplayHeader, c.Profile.ReferenceField, c.Log = "Idempotent-Replayed", "messageId", db
	for _, body := range []string{`{"card":"s3cret-request"}`, `{"card":"s3cret-request"}`, `{"card":"other"}`} {
		c.Do(post(t, url+"/?token=s3cret-query", body), "invoice-email:42", nil)
	}
	rows, err := db.ProviderCalls(t.Context(), store.ProviderCallFilter{Key: "invoice-email:42"})
	if err != nil || len(rows) != 3 {
		t.Fatal(rows, err)
	}
	first, second, third := rows[2], rows[1], rows[0]
	if first.Status != 503 || first.Outcome != "unknown" || first.Replayed || first.Error == "" || first.EndedAt == nil || first.Duration() <= 0 {
		t.Errorf("first: %+v", first)
	}
	if second.Status != 200 || second.Outcome != "delivered" || !second.Replayed || second.Reference != "msg-0001" || second.Error != "" {
		t.Errorf("second: %+v", second)
	}
	if first.Payload != second.Payload || first.Payload == third.Payload || first.SentKey != "invoice-email:42" {
		t.Errorf("payloads %s %s %s", first.Payload, second.Payload, third.Payload)
	}
	var all string
	if err := db.GetContext(t.Context(), &all, `select string_agg(c::text, ' ') from tekrar.provider_calls c`); err != nil || strings.Contains(all, "s3cret") {
		t.Errorf("a body or an address is kept: %s %v", all, err)
	}
	id, err := db.BeginCall(t.Context(), store.ProviderCall{Provider: "p", Key: "killed", JobID: 7, Attempt: 2, Payload: "x"})
	if err != nil {
		t.Fatal(err)
	}
	rows, err = db.ProviderCalls(t.Context(), store.ProviderCallFilter{JobID: 7})
	if err != nil || len(rows) != 1 || rows[0].ID != id || rows[0].EndedAt != nil || rows[0].Outcome != "" || rows[0].Attempt != 2 {
		t.Errorf("a call without an answer: %+v %v", rows, err)
	}
}

func TestLookUp(t *testing.T) {
	t.Parallel()
	c := newClient(t, NoKeys())
	if _, err := c.LookUp(t.Context(), "k"); err == nil || !strings.Contains(err.Error(), "LookUp is nil") {
		t.Error(err)
	}
	c = newClient(t, PayPalLike())
	c.Profile.LookUp = func(_ context.Context, _ *http.Client, key string) (Found, error) {
		return Found{Known: true, Reference: key}, nil
	}
	found, err := c.LookUp(t.Context(), strings.Repeat("k", 60))
	if err != nil || !strings.HasPrefix(found.Reference, "h-") {
		t.Errorf("%+v %v: want the key as it was sent", found, err)
	}
}
