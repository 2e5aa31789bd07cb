package outbound

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
)

// answer is one thing a provider may say.
type answer struct {
	status  int
	headers string // "Name: value; Name: value"
	body    string
}

func (a answer) serve(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	for pair := range strings.SplitSeq(a.headers, "; ") {
		if name, value, ok := strings.Cut(pair, ": "); ok {
			w.Header().Set(name, value)
		}
	}
	w.WriteHeader(a.status)
	io.WriteString(w, a.body)
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	huge := `{"messageId":"m","filler":"` + strings.Repeat("x", MaxBody) + `"}`
	for _, tt := range []struct {
		name    string
		profile Profile
		answer  answer
		claim   string // what is done to it
		says    string // of the error; "" means success
	}{
		{"delivered", Article(), answer{200, "", `{"messageId":"msg-0001","replayed":false}`}, "begin done", ""},
		{"created", Article(), answer{201, "", `{"messageId":"msg-0001"}`}, "begin done", ""},
		{"no content", Article(), answer{204, "", ""}, "begin done", ""},
		{"empty body", Article(), answer{200, "Content-Type: text/plain", ""}, "begin done", ""},
		{"1 MB body", Article(), answer{200, "", huge}, "begin done", ""},
		{"no JSON", Article(), answer{200, "", `{"messageId":`}, "begin done", ""},
		{"HTML", Article(), answer{200, "Content-Type: text/html; charset=utf-8", "<h1>Maintenance</h1>"}, "begin unknown", `content type "text/html"`},
		{"HTML without keys", NoKeys(), answer{200, "Content-Type: text/html", "<h1>Hello</h1>"}, "begin unknown", `want "application/json"`},
		{"problem", Article(), answer{400, "Content-Type: application/problem+json", `{}`}, "begin release", "refused with status 400"},
		{"vendor JSON", Article(), answer{200, "Content-Type: application/vnd.mail+json", `{"messageId":"m"}`}, "begin done", ""},
		{"moved", Article(), answer{307, "Location: /elsewhere", ""}, "begin unknown", "redirects"},
		{"see other", NoKeys(), answer{303, "Location: /elsewhere", ""}, "begin unknown", "redirects"},
		{"unauthorized", Article(), answer{401, "", `{}`}, "begin release", "status 401"},
		{"timeout", Article(), answer{408, "", `{}`}, "begin unknown", "status 408"},
		{"in flight", Article(), answer{409, "Retry-After: 3", `{}`}, "begin unknown", "asking again in 3s"},
		{"in flight, no time", Article(), answer{409, "", `{}`}, "begin unknown", "asking again in 2s"},
		{"in flight for hours", Article(), answer{409, "Retry-After: 7200", `{}`}, "begin unknown", "asking again in 1m0s"},
		{"conflict without keys", NoKeys(), answer{409, "", `{}`}, "begin unknown", "status 409"},
		{"other content", Article(), answer{422, "", `{}`}, "begin unknown", "key reused with other content"},
		{"422 without keys", NoKeys(), answer{422, "", `{}`}, "begin release", "refused with status 422"},
		{"other content, Stripe", StripeLike(), answer{400, "", `{"error":{"type":"idempotency_error"}}`}, "begin unknown", "key reused"},
		{"bad request, Stripe", StripeLike(), answer{400, "", `{"error":{"type":"invalid_request_error"}}`}, "begin release", "refused"},
		{"too many", Article(), answer{429, "Retry-After: 9", `{}`}, "begin release", "status 429"},
		{"server error", Article(), answer{500, "", `{}`}, "begin unknown", "status 500: outcome unknown"},
		{"unavailable", NoKeys(), answer{503, "Retry-After: 4", `{}`}, "begin unknown", "status 503"},
		{"replayed error", Article(), answer{500, "Idempotent-Replayed: true", `{}`}, "begin unknown", "repeats its earlier status 500"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, claim := newClient(t, tt.profile), &claims{}
			_, err := c.Do(post(t, answering(t, tt.answer.serve), `{"to":"a"}`), "invoice-email:42", claim)
			if claim.told() != tt.claim {
				t.Errorf("claim: %s, want %s (%v)", claim.told(), tt.claim, err)
			}
			switch {
			case tt.says == "" && err != nil:
				t.Error(err)
			case tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)):
				t.Errorf("error %v, want %q", err, tt.says)
			}
			if log := c.Log.(*calls); len(log.begun) != 1 || len(log.ended) != 1 || log.ended[0].Status != tt.answer.status {
				t.Errorf("log: %+v", log.ended)
			}
		})
	}
}

func TestErrorsCanBeTold(t *testing.T) {
	t.Parallel()
	p := Article()
	say := func(status int, replayed bool, headers ...string) error {
		r := Response{Status: status, Replayed: replayed, Header: http.Header{}}
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		return p.failure(p.judge(r), r)
	}
	if e, ok := errors.AsType[*InFlight](say(409, false, "Retry-After", "5")); !ok || e.Wait != 5*time.Second {
		t.Errorf("in flight: %v", e)
	}
	if e, ok := errors.AsType[*Refused](say(429, false, "Retry-After", "5")); !ok || e.RetryAfter != 5*time.Second || e.Status != 429 {
		t.Errorf("refused: %v", e)
	}
	if e, ok := errors.AsType[*Unknown](say(502, true)); !ok || !e.Replayed {
		t.Errorf("unknown: %v", e)
	}
	if _, ok := errors.AsType[*KeyReused](say(422, false)); !ok {
		t.Error("422 is no KeyReused")
	}
}

// What the engine makes of each: one run and no retry used, or the provider's wait.
func TestRulings(t *testing.T) {
	t.Parallel()
	p := Article()
	for _, tt := range []struct {
		r    Response
		want error
	}{
		{Response{Status: 409, Header: http.Header{"Retry-After": {"7"}}}, jobs.Snooze(7 * time.Second)},
		{Response{Status: 422}, jobs.Permanent(errors.New("x"))},
		{Response{Status: 500, Replayed: true}, jobs.Permanent(errors.New("x"))},
		{Response{Status: 429, Header: http.Header{"Retry-After": {"7"}}}, jobs.RetryAfter(errors.New("x"), 0)},
		{Response{Status: 503, Header: http.Header{"Retry-After": {"7"}}}, jobs.RetryAfter(errors.New("x"), 0)},
		{Response{Status: 500}, nil},
		{Response{Status: 401}, nil},
	} {
		if tt.r.Header == nil {
			tt.r.Header = http.Header{}
		}
		chain := types(p.failure(p.judge(tt.r), tt.r))
		ruled := strings.Contains(chain, "*jobs.")
		if tt.want == nil && ruled || tt.want != nil && !strings.Contains(chain, fmt.Sprintf("%T", tt.want)) {
			t.Errorf("%d: %s, want %T", tt.r.Status, chain, tt.want)
		}
	}
}

// types lists the types in a wrap chain.
func types(err error) string {
	text := fmt.Sprintf("%T ", err)
	switch x := err.(type) {
	case interface{ Unwrap() error }:
		if x.Unwrap() != nil {
			text += types(x.Unwrap())
		}
	case interface{ Unwrap() []error }:
		for _, e := range x.Unwrap() {
			text += types(e)
		}
	}
	return text
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "0": 0, "120": 2 * time.Minute, "-5": 0, "soon": 0, "9999999999": jobs.MaxWait,
		now.Add(time.Minute).Format(http.TimeFormat): time.Minute, now.Add(-time.Minute).Format(http.TimeFormat): 0,
		now.Add(9999 * time.Hour).Format(http.TimeFormat): jobs.MaxWait,
	} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}
