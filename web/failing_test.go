package web_test

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gorilla/websocket"

	"github.com/tekrar/tekrar/web"
)

// A list that takes too long says so after two seconds; the rest of the page is there.
func TestSlowDatabase(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	id := x.enqueue(note{})
	tx, err := x.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.Exec("lock table " + x.db.Schema() + ".ready in access exclusive mode"); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		"/jobs?state=enqueued": "could not be loaded", "/jobs/" + strconv.FormatInt(id, 10): "two seconds", "/queues": "could not be loaded",
	} {
		began := time.Now()
		x.get(path).wants(t, 503, text)
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("%s took %s", path, took)
		}
	}
	x.get("/servers").wants(t, 200)
}

// What goes wrong inside is logged under an id; the browser sees the id only.
func TestInternalErrorsStayInside(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	id := x.enqueue(note{})
	x.db.Close()
	for _, path := range []string{"/", "/jobs", "/queues", "/servers", "/attempts", "/readyz", "/jobs/" + strconv.FormatInt(id, 10)} {
		a := x.get(path)
		if strings.Contains(a.body, "sql:") || strings.Contains(a.body, "closed") {
			t.Errorf("%s: internal words in %s", path, clip(a.body))
		}
		if path != "/" && a.StatusCode < 500 {
			t.Errorf("%s: status %d without a database", path, a.StatusCode)
		}
	}
	a := x.get("/jobs/"+strconv.FormatInt(id, 10)).wants(t, 500, "under the id ")
	_, rest, _ := strings.Cut(a.body, "under the id ")
	if mark := rest[:12]; !strings.Contains(x.log.String(), mark) || !strings.Contains(x.log.String(), "sql: database is closed") {
		t.Errorf("id %q is not in the log with its cause", mark)
	}
	x.get("/healthz").wants(t, 200)
}

// A login that ends while a page is open ends its socket within the minute.
func TestSocketsAskForAccessAgain(t *testing.T) {
	t.Parallel()
	var role, asked atomic.Int64
	role.Store(int64(web.Operator))
	x := open(t, settings{fiber: &fiber.Config{}, prefix: "/jobs", options: web.Options{Access: web.Authorize(func(c *fiber.Ctx) (string, web.Role, error) {
		asked.Add(1)
		if c.Cookies("session") != "s3cret" {
			return "", 0, fiber.ErrUnauthorized
		}
		return "ada", web.Role(role.Load()), nil
	})}})
	x.dash.RecheckEvery(20 * time.Millisecond)
	c, res, err := x.dial("/jobs/live?view=%2Fjobs%2F", http.Header{"Cookie": {"session=s3cret"}})
	if err != nil {
		t.Fatalf("%v, %v", res, err)
	}
	defer c.Close()
	for range 50 { // other requests reuse the handshake's memory meanwhile
		x.do("GET", "/jobs/jobs", nil, headers{"Cookie": "session=xxxxxx"}).wants(t, 401)
	}
	x.until("the hook is asked again", func() bool { return asked.Load() > 60 })
	if _, err := read(t, c); err != nil {
		t.Fatalf("a good session ended with %v", err)
	}
	role.Store(int64(web.Viewer))
	if err := closed(t, c); !websocket.IsCloseError(err, websocket.ClosePolicyViolation) {
		t.Errorf("the socket ends with %v", err)
	}
}
