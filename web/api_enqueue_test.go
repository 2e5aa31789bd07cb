package web_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/web"
)

func (x *site) count(query string, args ...any) (n int) {
	x.t.Helper()
	if err := x.db.QueryRow(strings.ReplaceAll(query, "tekrar.", x.db.Schema()+"."), args...).Scan(&n); err != nil {
		x.t.Fatal(err)
	}
	return n
}

// However often a request with one key is sent, also at the same time, one job is
// there, and everybody gets the same answer.
func TestOneJobForOneKey(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	const body = `{"kind":"note","args":{"text":"once","n":1970670598291982290}}`
	const n = 20
	bodies, replayed := make([]string, n), make([]string, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			for { // 409 says: in a moment
				req, _ := http.NewRequest("POST", "http://"+x.host+"/api/jobs", strings.NewReader(body))
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Idempotency-Key", "order-17")
				res, err := x.http.Do(req)
				if err != nil {
					bodies[i] = err.Error()
					return
				}
				var text json.RawMessage
				_ = json.NewDecoder(res.Body).Decode(&text)
				res.Body.Close()
				if res.StatusCode == 409 && res.Header.Get("Retry-After") != "" {
					continue
				}
				bodies[i], replayed[i] = fmt.Sprint(res.StatusCode, string(text), res.Header.Get("Location")), res.Header.Get("Idempotent-Replayed")
				return
			}
		})
	}
	all.Wait()
	first := 0
	for i := range n {
		if bodies[i] != bodies[0] || !strings.HasPrefix(bodies[i], "201") {
			t.Errorf("answer %d: %s; answer 0: %s", i, bodies[i], bodies[0])
		}
		if replayed[i] == "" {
			first++
		}
	}
	if first != 1 || x.count(`select count(*) from tekrar.jobs`) != 1 || x.count(`select count(*) from tekrar.audit where action = 'enqueue' and actor = 'local'`) != 1 {
		t.Errorf("%d answers that are no replay, %d jobs", first, x.count(`select count(*) from tekrar.jobs`))
	}

	x.call("POST", "/api/jobs", ` { "args": {"n":1970670598291982290,"text":"once"}, "kind":"note" }`, headers{"Idempotency-Key": `"order-17"`}).wants(t, 201)
	x.call("POST", "/api/jobs", strings.Replace(body, "290", "291", 1), headers{"Idempotency-Key": "order-17"}).wants(t, 422, "key-reused")
	x.call("POST", "/api/jobs", body, headers{"Idempotency-Key": "order-18"}).wants(t, 201)
	x.call("POST", "/api/jobs", body, nil).wants(t, 201)
	for _, key := range []string{"\"\"", strings.Repeat("k", 129), "a\"b", "käse"} {
		x.call("POST", "/api/jobs", body, headers{"Idempotency-Key": key}).wants(t, 400, "Field Idempotency-Key")
	}
	// What is refused leaves the key free.
	x.call("POST", "/api/jobs", `{"kind":"note","args":{},"queue":"\n"}`, headers{"Idempotency-Key": "order-19"}).wants(t, 400, "queue")
	x.call("POST", "/api/jobs", body, headers{"Idempotency-Key": "order-19"}).wants(t, 201)
	if got := x.count(`select count(*) from tekrar.jobs`); got != 4 {
		t.Errorf("%d jobs, want 4", got)
	}
	if got := x.count(`select count(*) from tekrar.jobs where args::text like '%1970670598291982290%'`); got != 4 {
		t.Errorf("%d jobs have all digits", got)
	}
}

// A request whose twin has not committed is told to come again, and the key of one
// user is none to another.
func TestKeyThatRunsAndKeyOfSomebodyElse(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.Basic(map[string]string{"ada": "password", "bob": "password"})}})
	login := func(user string) headers {
		r, _ := http.NewRequest("GET", "/", nil)
		r.SetBasicAuth(user, "password")
		return headers{"Authorization": r.Header.Get("Authorization"), "Idempotency-Key": "k"}
	}
	const body = `{"kind":"note","args":{}}`
	claims, err := idempotency.New(x.db, idempotency.Config{})
	if err != nil {
		t.Fatal(err)
	}
	err = x.db.Tx(t.Context(), func(tx *sqlx.Tx) error {
		if _, err := claims.Reserve(t.Context(), tx, idempotency.RawKey("api-jobs:ada:k")); err != nil {
			return err
		}
		a := x.call("POST", "/api/jobs", body, login("ada")).wants(t, 409, "key-busy")
		if a.Header.Get("Retry-After") != "1" {
			t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
		}
		x.call("POST", "/api/jobs", body, login("bob")).wants(t, 201, `"id"`)
		return fmt.Errorf("roll back")
	})
	if err == nil {
		t.Error("the transaction was to be rolled back")
	}
	a := x.call("POST", "/api/jobs", body, login("ada")).wants(t, 201)
	if a.Header.Get("Idempotent-Replayed") != "" || x.count(`select count(*) from tekrar.jobs`) != 2 {
		t.Errorf("bob's answer went to ada: %s", a.body)
	}
}

// Nothing that is wrong is taken, and each refusal names the field.
func TestNewJobsThatAreRefused(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	for body, want := range map[string]string{
		``:                                       "kind",
		`[]`:                                     "JSON object",
		`{"kind":"note"}`:                        "args",
		`{"kind":"note","args":[1]}`:             "args",
		`{"kind":"note","args":null}`:            "args",
		`{"kind":7,"args":{}}`:                   "Field kind",
		`{"kind":"note","args":{}}{}`:            "more than one",
		`{"kind":"note","args":{}`:               "no JSON object",
		`{"kind":"note","args":{},"x":1}`:        `x`,
		`{"kind":"note","args":{},"priority":5}`: "-4 to 4",
		`{"kind":"note","args":{},"priority":4294967297}`:                        "-4 to 4",
		`{"kind":"note","args":{},"delay_ms":-1}`:                                "delay_ms",
		`{"kind":"note","args":{},"delay_ms":1,"run_at":"2026-01-31T09:00:00Z"}`: "delay_ms",
		`{"kind":"note","args":{},"run_at":"tomorrow"}`:                          "run_at",
		`{"kind":"note","args":{},"run_at":"9999-12-31T23:59:59-01:00"}`:         "9999",
		`{"kind":"note","args":{},"timeout_ms":9223372036854775807}`:             "timeout_ms",
		`{"kind":"note","args":{},"tags":[""]}`:                                  "tag",
		`{"kind":"note","args":{},"policy":{"max_retries":-1}}`:                  "policy",
		`{"kind":"note","args":{},"unique":{"scope":"ever"}}`:                    "unique.scope",
		`{"kind":"note","args":{},"unique":{"scope":"period"}}`:                  "period",
		`{"kind":"note","args":{},"after":{"id":"x"}}`:                           "after.id",
		`{"kind":"note","args":{},"after":{"id":"99"}}`:                          "99",
		`{"kind":"no\u0000te","args":{}}`:                                        "kind",
		`{"kind":"note","args":{"a":"\u0000"}}`:                                  "args",
	} {
		a := x.call("POST", "/api/jobs", body, nil).wants(t, 400, want)
		if a.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: answered as %s", body, a.Header.Get("Content-Type"))
		}
	}
	if n := x.count(`select count(*) from tekrar.jobs`); n != 0 {
		t.Errorf("%d jobs were stored", n)
	}
}

// SEC-03: a browser on another site can make nobody's program of the API.
func TestForgedCalls(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	const body = `{"kind":"note","args":{}}`
	for i, c := range []struct {
		h      headers
		status int
	}{
		{nil, 201},
		{headers{"Sec-Fetch-Site": "same-origin"}, 201},
		{headers{"Origin": "http://" + x.host}, 201},
		{headers{"Sec-Fetch-Site": "cross-site"}, 403},
		{headers{"Sec-Fetch-Site": "none"}, 403},
		{headers{"Sec-Fetch-Site": "same-site", "Authorization": "Bearer x"}, 403},
		{headers{"Origin": "http://evil.example"}, 403},
		{headers{"Origin": "null", "Authorization": "Basic eDp5"}, 403},
		{headers{"Content-Type": "text/plain"}, 415},
		{headers{"Content-Type": "application/x-www-form-urlencoded"}, 415},
		{headers{"Content-Type": ""}, 415},
		{headers{"Content-Type": "application/json; charset=utf-8"}, 201},
	} {
		before := x.count(`select count(*) from tekrar.jobs`)
		a := x.call("POST", "/api/jobs", body, c.h).wants(t, c.status)
		if made := x.count(`select count(*) from tekrar.jobs`) - before; (made == 1) != (c.status == 201) {
			t.Errorf("case %d: %d jobs with status %d", i, made, a.StatusCode)
		}
		if a.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("case %d: other sites may read the answer", i)
		}
	}
	x.call("PUT", "/api/jobs", body, nil).wants(t, 405, "GET, HEAD, POST", "about:blank")
	x.call("OPTIONS", "/api/jobs", "", headers{"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}).wants(t, 405)
	x.call("GET", "/api/nothing", "", nil).wants(t, 404, `"status":404`)

	// The server does not read on: the answer may be lost with what it did not read.
	req, err := http.NewRequest("POST", "http://"+x.host+"/api/jobs", strings.NewReader(strings.Repeat("x", 3_000_000)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := x.http.Do(req)
	switch {
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
	case err != nil:
		t.Error(err)
	default:
		defer res.Body.Close()
		if text, err := io.ReadAll(res.Body); res.StatusCode != 413 || err == nil && !strings.Contains(string(text), `"status":413`) {
			t.Errorf("%d %s, %v", res.StatusCode, text, err)
		}
	}
}

// What pages hide, programs do not see either, and cannot search for.
func TestAPIHidesWhatPagesHide(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	made := x.call("POST", "/api/jobs", `{"kind":"login","args":{"user":"ada","password":"hunter2","n":1.50}}`, nil).wants(t, 201)
	for _, path := range []string{"/api/jobs", made.Header.Get("Location")} {
		if a := x.call("GET", path, "", nil).wants(t, 200, "ada", "•••", "1.50"); strings.Contains(a.body, "hunter2") {
			t.Errorf("%s shows the password", path)
		}
	}
	x.call("GET", "/api/jobs?q=args.password:hunter2", "", nil).wants(t, 400, "hidden")
}

// A database that takes no writes is read as ever.
func TestAPIReadOnly(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None(), ReadOnly: func() bool { return true }}})
	x.call("GET", "/api/jobs", "", nil).wants(t, 200, `"jobs":[]`)
	x.call("POST", "/api/jobs", `{"kind":"note","args":{}}`, nil).wants(t, 503, "read-only", "replica")
}
