package bookstore

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// ProviderPath is where the provider takes mails.
const ProviderPath = "/provider/emails"

const maxMail = 64 << 10 // bytes of a request

// Handler serves POST ProviderPath, which delivers a mail, and GET with ?key=,
// which tells what became of a key.
func (p *Provider) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+ProviderPath, p.serveMail)
	mux.HandleFunc("GET "+ProviderPath, p.serveKey)
	return mux
}

type answer struct {
	MessageID string `json:"messageId"`
	Replayed  bool   `json:"replayed"`
}

func (p *Provider) serveMail(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMail))
	if err != nil {
		problem(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("a mail has at most %d bytes", maxMail))
		return
	}
	var mail Mail
	if err := json.Unmarshal(body, &mail); err != nil || mail.To == "" {
		problem(w, http.StatusBadRequest, "to: is missing, must be a recipient in a JSON object")
		return
	}
	key, err := readKey(r.Header.Values("Idempotency-Key"))
	if err != nil {
		problem(w, http.StatusBadRequest, err.Error())
		return
	}
	d := p.take(mail, key, sha256.Sum256(body))
	if d.reserved != nil || d.works {
		d = p.work(r.Context(), d)
	}
	d.answer(w, r)
}

// doing is a request on its way through the provider.
type doing struct {
	Asked
	switches Switches
	reserved *reservation
	works    bool
	says     string // of a problem
}

// take decides what a request gets: a refusal, a repetition, or the work.
func (p *Provider) take(mail Mail, key string, fingerprint [32]byte) (d doing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d = doing{Asked: Asked{To: mail.To, Key: key}, switches: p.next(mail.To)}
	defer func() {
		if !d.works {
			p.note(d.Asked)
		}
	}()
	refuse := func(status int, says string) doing {
		d.Status, d.says = status, says
		return d
	}
	s := d.switches
	switch {
	case s.Refuse:
		return refuse(http.StatusForbidden, "the provider takes no mail from you")
	case s.Throttle:
		return refuse(http.StatusTooManyRequests, "too many mails, come again in a second")
	}
	if key != "" && !s.IgnoreKeys {
		if old := p.known(key, s.KeyLife); old != nil {
			switch {
			case old.fingerprint != fingerprint:
				return refuse(http.StatusUnprocessableEntity, "the key came before with another mail")
			case !old.done:
				return refuse(http.StatusConflict, "the first request with this key still runs")
			}
			d.Status, d.MessageID, d.Replayed = old.status, old.messageID, true
			if old.status != http.StatusOK {
				d.says = "the first request with this key failed"
			}
			return d
		}
		if !s.FailBefore || s.KeepErrors {
			d.reserved = p.reserve(key, fingerprint)
		}
	}
	d.works = true
	return d
}

// work delivers. It goes on when the client has gone: that is what makes an outcome
// unknown.
func (p *Provider) work(ctx context.Context, d doing) doing {
	s := d.switches
	_ = pause(context.WithoutCancel(ctx), min(s.Latency, maxLatency))
	p.mu.Lock()
	defer p.mu.Unlock()
	d.Status = http.StatusOK
	if s.FailBefore {
		d.Status, d.says = http.StatusInternalServerError, "the provider failed before the mail was delivered"
	} else {
		d.MessageID, d.Delivered = p.deliver(d.To), true
	}
	if s.FailAfter {
		d.Status, d.says = http.StatusInternalServerError, "the provider failed"
	}
	if r := d.reserved; r != nil {
		r.done, r.status, r.messageID = true, http.StatusOK, d.MessageID
		if s.KeepErrors {
			r.status = d.Status
		}
	}
	if s.Drop || s.Silent {
		d.Status = 0
	}
	p.note(d.Asked)
	return d
}

func (d doing) answer(w http.ResponseWriter, r *http.Request) {
	if d.Status == 0 {
		if d.switches.Silent {
			_ = pause(r.Context(), time.Minute)
		}
		panic(http.ErrAbortHandler) // cuts the connection without an answer
	}
	if d.Replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	switch d.Status {
	case http.StatusOK:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer{d.MessageID, d.Replayed})
		return
	case http.StatusTooManyRequests, http.StatusConflict:
		w.Header().Set("Retry-After", "1")
	}
	problem(w, d.Status, d.says)
}

// serveKey is the look-up.
func (p *Provider) serveKey(w http.ResponseWriter, r *http.Request) {
	key := r.URL.Query().Get("key")
	reserved, found := p.find(key)
	if !found {
		problem(w, http.StatusNotFound, "no request came with this key")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"key": key, "running": !reserved.done, "messageId": reserved.messageID})
}

func problem(w http.ResponseWriter, status int, says string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"title": http.StatusText(status), "status": status, "detail": says})
}
