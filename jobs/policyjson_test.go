package jobs

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestPublishedPolicy(t *testing.T) {
	t.Parallel()
	p := RetryPolicy{MaxRetries: 3, Delays: []time.Duration{2 * time.Second, 5 * time.Second, 10 * time.Second},
		OnExceeded: Delete, ExceptOn: []Matcher{Is(errHopeless)}, OnlyOn: []Matcher{As[baseError]()}}
	got, err := encodePolicy(p)
	want := `{"max_retries":3,"on_exceeded":"delete","delays":["2s","5s","10s"],` +
		`"except_on":["Is(\"invoice is not valid\")"],"only_on":["As[jobs.baseError]"],` +
		`"bands":[{"n":1,"min_ms":2000,"max_ms":2000},{"n":2,"min_ms":5000,"max_ms":5000},{"n":3,"min_ms":10000,"max_ms":10000}],` +
		`"window_min_ms":17000,"window_max_ms":17000}`
	if err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}

	def := DefaultRetry().Publish()
	if def.WindowMinMS != 15483_000 || def.WindowMaxMS != 17078_000 || len(def.Bands) != 10 || def.Bands[9] != (WaitBand{10, 6576_000, 6866_000}) {
		t.Errorf("default: %+v", def)
	}
	if many := (RetryPolicy{MaxRetries: MaxRetriesLimit}).Publish(); len(many.Bands) != publishedBands || many.WindowMaxMS <= 0 {
		t.Errorf("many retries: %d bands, window %d", len(many.Bands), many.WindowMaxMS)
	}
	unknown := RetryPolicy{MaxRetries: 3, Backoff: Func(func(int, error) time.Duration { return 0 })}.Publish()
	if unknown.Backoff.Kind != "func" || unknown.Bands != nil || unknown.WindowMaxMS != 0 {
		t.Errorf("func: %+v", unknown)
	}
}

func TestJobPolicyRoundTrip(t *testing.T) {
	t.Parallel()
	for _, p := range []RetryPolicy{
		{},
		DefaultRetry(),
		NoRetry(),
		{MaxRetries: 2, Delays: []time.Duration{0, 1500 * time.Microsecond, MaxWait}},
		{MaxRetries: 2, Backoff: Fixed(time.Nanosecond), OnExceeded: Delete},
		{MaxRetries: 7, Backoff: Exponential(2*time.Second, 1.5, time.Hour, 0.25)},
	} {
		text, err := encodeJobPolicy(p)
		if err != nil {
			t.Errorf("%+v: %v", p, err)
			continue
		}
		doc, err := ParsePolicy([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		back, err := doc.RetryPolicy()
		if p.Backoff.kind == "" && p.Delays == nil {
			p.Backoff = Hangfire()
		}
		if err != nil || !reflect.DeepEqual(back, p) {
			t.Errorf("%s: %+v, %v", text, back, err)
		}
	}
}

func TestJobPolicyRefusesWhatCannotBeStored(t *testing.T) {
	t.Parallel()
	for field, p := range map[string]RetryPolicy{
		"RetryPolicy.Backoff":    {MaxRetries: 1, Backoff: Func(func(int, error) time.Duration { return 0 })},
		"RetryPolicy.ExceptOn":   {ExceptOn: []Matcher{Is(errHopeless)}},
		"RetryPolicy.OnlyOn":     {OnlyOn: []Matcher{As[baseError]()}},
		"RetryPolicy.MaxRetries": {MaxRetries: -1},
	} {
		_, err := encodeJobPolicy(p)
		var in *InputError
		if !errors.As(err, &in) || in.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestPolicyFromOutside(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"max_retries":-1}`:                             "RetryPolicy.MaxRetries",
		`{"delays":["soon"]}`:                            "soon",
		`{"on_exceeded":"shout"}`:                        "shout",
		`{"backoff":{"kind":"func"}}`:                    `"func" cannot be rebuilt`,
		`{"backoff":{"kind":"exponential"}}`:             "factor 0",
		`{"backoff":{"kind":"fixed","initial":"9999h"}}`: "outside 0 to",
	} {
		doc, err := ParsePolicy([]byte(in))
		if err == nil {
			_, err = doc.RetryPolicy()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", in, err)
		}
	}
	if _, err := ParsePolicy([]byte(`[`)); err == nil {
		t.Error("broken JSON read")
	}
	newer := json.RawMessage(`{"max_retries":1,"colour":"red"}`)
	if doc, err := ParsePolicy(newer); err != nil || doc.MaxRetries != 1 {
		t.Errorf("a newer server's policy: %v", err)
	}
}
