package web_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/web"
)

// call sends JSON as a program does.
func (x *site) call(method, path, body string, h headers) answer {
	x.t.Helper()
	req, err := http.NewRequest(method, "http://"+x.host+x.prefix+path, strings.NewReader(body))
	if err != nil {
		x.t.Fatal(err)
	}
	if method != "GET" {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range h {
		req.Header.Set(name, value)
	}
	res, err := x.http.Do(req)
	if err != nil {
		x.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	return answer{res, string(text)}
}

// hold runs until it is told to end.
type hold struct{}

func (hold) Kind() string { return "hold" }

// contract is the served document. It knows which operations were answered well.
type contract struct {
	x        *site
	validate validator.Validator
	document libopenapi.Document
	answered map[string]bool
}

func readContract(t *testing.T, x *site) *contract {
	t.Helper()
	text := x.call("GET", "/api/openapi.json", "", nil).wants(t, 200).body
	document, err := libopenapi.NewDocument([]byte(strings.Replace(text, `"../api"`, `"http://`+x.host+x.prefix+`/api"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	v, errs := validator.NewValidator(document, config.WithFormatAssertions())
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if ok, errs := v.ValidateDocument(); !ok {
		t.Fatalf("the document is no OpenAPI 3.1: %v", errs[0])
	}
	return &contract{x: x, validate: v, document: document, answered: map[string]bool{}}
}

// call holds the answer, and a request that was taken, to the document.
func (c *contract) call(t *testing.T, operation string, status int, path, body string, h headers) answer {
	t.Helper()
	method, pattern, _ := strings.Cut(operation, " ")
	a := c.x.call(method, "/api"+path, body, h).wants(t, status)
	req := a.Request.Clone(t.Context())
	req.Body = io.NopCloser(strings.NewReader(body))
	res := *a.Response
	res.Body = io.NopCloser(bytes.NewReader([]byte(a.body)))
	if ok, errs := c.validate.ValidateHttpResponse(req, &res); !ok {
		for _, e := range errs {
			t.Errorf("%s %s: the answer is not as documented: %s: %s %v\n%s", method, path, e.Message, e.Reason, e.SchemaValidationErrors, clip(a.body))
		}
	}
	if status < 300 {
		c.answered[method+" "+pattern] = true
		req.Body = io.NopCloser(strings.NewReader(body))
		if ok, errs := c.validate.ValidateHttpRequest(req); !ok {
			for _, e := range errs {
				t.Errorf("%s %s: taken, but not documented: %s: %s", method, path, e.Message, e.Reason)
			}
		}
	} else if got := a.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("%s %s: status %d as %s", method, path, status, got)
	}
	return a
}

// Every route is in the document with exactly its parameters, every operation of the
// document is a route.
func TestOpenAPIAndRoutesAgree(t *testing.T) {
	t.Parallel()
	c := readContract(t, open(t, settings{prefix: "/ops", options: web.Options{Access: web.None()}}))
	documented := map[string][]string{}
	model, err := c.document.BuildV3Model()
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range model.Model.Paths.PathItems.FromOldest() {
		for method, op := range item.GetOperations().FromOldest() {
			query := []string{}
			for _, p := range op.Parameters {
				if p.In == "query" {
					query = append(query, p.Name)
				}
			}
			slices.Sort(query)
			documented[strings.ToUpper(method)+" "+path] = query
		}
	}
	routed := map[string][]string{}
	for _, r := range web.APIRoutes() {
		path := strings.NewReplacer(":id", "{id}", ":name", "{name}", ":key", "{key}").Replace(strings.TrimPrefix(r.Path(), "/api"))
		query := append([]string{}, r.Query()...)
		slices.Sort(query)
		routed[r.Method()+" "+path] = query
	}
	if len(routed) < 10 || !maps.EqualFunc(documented, routed, slices.Equal[[]string]) {
		t.Errorf("documented %v\nrouted %v", documented, routed)
	}
}

// Real answers of every operation, good and bad, are as the document says.
func TestAnswersAreAsDocumented(t *testing.T) {
	t.Parallel()
	x := open(t, settings{prefix: "/ops", options: web.Options{Access: web.None()}, client: jobs.Config{Name: "worker-1"}})
	c := readContract(t, x)
	x.client.Recurring("nightly", "0 3 * * *", note{Text: "night"})
	claims, err := idempotency.New(x.db, idempotency.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := claims.Claim(t.Context(), nil, idempotency.NewKey("mail", 7)); err != nil {
		t.Fatal(err)
	}
	jobs.Handle(x.client, func(ctx context.Context, _ *jobs.Job[hold]) error {
		<-ctx.Done()
		return ctx.Err()
	})
	x.work()
	failed := x.failed("letter")
	x.until("recurring job saved", func() bool {
		rows, err := x.db.RecurringAll(t.Context())
		return err == nil && len(rows) == 1
	})
	if _, err := x.client.RunRecurringNow(t.Context(), "ann", "nightly"); err != nil {
		t.Fatal(err)
	}
	job := fmt.Sprintf("/jobs/%d", failed)

	c.call(t, "GET /openapi.json", 200, "/openapi.json", "", nil)
	c.call(t, "GET /jobs", 200, "/jobs?state=failed&queue=default&kind=note&q=kind:note&limit=1", "", nil).wants(t, 200, "letter", `"error":"cannot file letter"`)
	c.call(t, "GET /jobs", 400, "/jobs?state=lost", "", nil).wants(t, 400, "Field state")
	c.call(t, "GET /jobs", 400, "/jobs?stat=failed", "", nil).wants(t, 400, "Unknown filter", "state")
	c.call(t, "GET /jobs", 400, "/jobs?after=x", "", nil).wants(t, 400, "Field after")
	c.call(t, "GET /jobs", 400, "/jobs?limit=501", "", nil).wants(t, 400, "500")
	c.call(t, "GET /jobs/{id}", 200, job+"?limit=2", "", nil).wants(t, 200, `"older"`, `"latency_us"`, `"policy_from":"kind"`)
	c.call(t, "GET /jobs/{id}", 404, "/jobs/999999", "", nil)
	c.call(t, "GET /queues", 200, "/queues", "", nil).wants(t, 200, `"name":"default"`)
	c.call(t, "GET /recurring", 200, "/recurring", "", nil).wants(t, 200, `"fires":[{`)
	c.call(t, "GET /servers", 200, "/servers", "", nil).wants(t, 200, "worker-1", `"live":true`)
	c.call(t, "GET /claims", 200, "/claims?tab=unsettled&limit=1", "", nil).wants(t, 200, "mail:7")
	c.call(t, "GET /claims", 200, "/claims?key=mail:7", "", nil).wants(t, 200, `"state":"claimed"`)
	c.call(t, "GET /claims", 200, "/claims?key=none", "", nil).wants(t, 200, `"claims":[]`)
	c.call(t, "GET /claims", 400, "/claims?tab=x", "", nil).wants(t, 400, "Field tab")

	at := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano)
	full := fmt.Sprintf(`{"kind":"letter","args":{"n":1234567890123456789.10},"queue":"a/b","priority":-4,"run_at":%q,"timeout_ms":5000,"tags":["x","y"],`+
		`"policy":{"max_retries":2,"delays":["1s","2s"],"on_exceeded":"delete"},"unique":{"key":"k","scope":"period","period_ms":60000}}`, at)
	made := c.call(t, "POST /jobs", 201, "/jobs", full, nil).wants(t, 201, `"state":"scheduled"`)
	c.call(t, "POST /jobs", 200, "/jobs", full, nil).wants(t, 200, `"duplicate":true`)
	location := made.Header.Get("Location")
	if !strings.HasPrefix(location, "/ops/api/jobs/") {
		t.Errorf("location %q", location)
	}
	scheduled := strings.TrimPrefix(location, "/ops/api")
	c.call(t, "GET /jobs/{id}", 200, scheduled, "", nil).wants(t, 200, "1234567890123456789.10", `"tags":["x","y"]`, `"max_retries":2`, `"timeout_ms":5000`, at)
	c.call(t, "POST /jobs", 201, "/jobs", `{"kind":"letter","args":{},"after":{"id":"`+strings.TrimPrefix(scheduled, "/jobs/")+`","condition":"always"}}`, nil).wants(t, 201, "awaiting")

	c.call(t, "POST /jobs/{id}/delete", 409, job+"/delete", `{"expected":"succeeded"}`, nil).wants(t, 409, "state-changed", `"state":"failed"`)
	c.call(t, "POST /jobs/{id}/cancel", 409, job+"/cancel", `{"expected":"failed"}`, nil).wants(t, 409, "cannot be cancelled")
	c.call(t, "POST /jobs/{id}/delete", 200, job+"/delete", `{"expected":"failed"}`, nil).wants(t, 200, `"state":"deleted"`)
	c.call(t, "POST /jobs/{id}/restore", 200, job+"/restore", `{"expected":"deleted"}`, nil).wants(t, 200, `"state":"enqueued"`)
	c.call(t, "POST /jobs/{id}/requeue", 200, scheduled+"/requeue", `{"expected":"scheduled","fresh_budget":true}`, nil).wants(t, 200, `"state":"enqueued"`)
	c.call(t, "POST /jobs/{id}/requeue", 404, "/jobs/999999/requeue", `{"expected":"failed"}`, nil)
	c.call(t, "POST /queues/{name}/pause", 200, "/queues/a%2Fb/pause", `{}`, nil).wants(t, 200, `{"name":"a/b","paused":true}`)
	c.call(t, "POST /queues/{name}/resume", 200, "/queues/a%2Fb/resume", "", nil).wants(t, 200, `"paused":false`)

	holds, err := x.client.Enqueue(t.Context(), hold{})
	if err != nil {
		t.Fatal(err)
	}
	x.until("a job that runs", func() bool { return x.state(holds.ID) == jobs.Processing })
	c.call(t, "POST /jobs/{id}/cancel", 200, fmt.Sprintf("/jobs/%d/cancel", holds.ID), `{"expected":"processing"}`, nil).wants(t, 200, `"state":"processing"`)

	recurringAnswers(t, c)
	claimAnswers(t, c)

	for _, r := range web.APIRoutes() {
		name := r.Method() + " " + strings.NewReplacer(":id", "{id}", ":name", "{name}", ":key", "{key}").Replace(strings.TrimPrefix(r.Path(), "/api"))
		if !c.answered[name] {
			t.Errorf("%s was never answered well: nothing held it to the document", name)
		}
	}
}
