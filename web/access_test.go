package web_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/web"
)

func TestMountNeedsADecision(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	for name, try := range map[string]func() error{
		"Options.Access": func() error { _, err := web.Mount(fiber.New(), "/jobs", x.client, web.Options{}); return err },
		"client": func() error {
			_, err := web.Mount(fiber.New(), "/jobs", nil, web.Options{Access: web.None()})
			return err
		},
		"prefix": func() error {
			_, err := web.Mount(fiber.New(), "/a/:b", x.client, web.Options{Access: web.None()})
			return err
		},
		"loopback": func() error {
			_, err := web.Listen("0.0.0.0:0", "", x.client, web.Options{Access: web.None()})
			return err
		},
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v does not name it", name, err)
		}
	}
}

// Without a login a proxy on this machine makes everybody local, and a web page can
// point its own host name here.
func TestNoneServesThisMachineOnly(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	_, port, _ := strings.Cut(x.host, ":")
	for _, host := range []string{"localhost", "localhost:" + port, "127.0.0.1:" + port, "[::1]:" + port, "LOCALHOST"} {
		x.do("GET", "/", nil, headers{"Host": host}).wants(t, 200)
	}
	for _, host := range []string{"evil.example", "evil.example:" + port, "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "0.0.0.0:" + port} {
		for _, path := range []string{"/", "/jobs", "/healthz", "/live?view=%2F"} {
			x.do("GET", path, nil, headers{"Host": host}).wants(t, 403, "localhost")
		}
	}
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Via"} {
		x.do("GET", "/", nil, headers{name: "127.0.0.1"}).wants(t, 403, "proxy")
	}
}

func TestBasic(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.Basic(map[string]string{"ada": "pass:word"})}})
	a := x.get("/").wants(t, 401)
	if !strings.HasPrefix(a.Header.Get("Www-Authenticate"), "Basic") {
		t.Errorf("no question for a password: %v", a.Header)
	}
	login := func(user, password string) headers {
		r, _ := http.NewRequest("GET", "/", nil)
		r.SetBasicAuth(user, password)
		return headers{"Authorization": r.Header.Get("Authorization"), "Sec-Fetch-Site": "same-origin"}
	}
	x.do("GET", "/", nil, login("ada", "pass:word")).wants(t, 200, "ada", "admin")
	x.do("GET", "/", nil, headers{"Authorization": "Basic !!!"}).wants(t, 401)
	for _, wrong := range []headers{login("ada", "pass"), login("ada", ""), login("", ""), login("bob", ""), login("Ada", "pass:word")} {
		x.do("GET", "/", nil, wrong).wants(t, 401)
	}
	x.get("/healthz").wants(t, 200)
	id := x.enqueue(note{})
	target := url.Values{"do": {"delete"}, "target": {fmt.Sprintf("%d:enqueued", id)}}
	x.post("/jobs/act", target).wants(t, 401)
	x.do("POST", "/jobs/act", target, login("ada", "pass:word")).wants(t, 303)
	d, err := x.db.Job(t.Context(), id, 0, 0)
	if err != nil || d.History[0].Actor != "ada" {
		t.Errorf("history does not name ada: %+v, %v", d.History, err)
	}
}

func TestAuthorize(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.Authorize(func(c *fiber.Ctx) (string, web.Role, error) {
		switch c.Get("X-User") {
		case "":
			return "", 0, fiber.ErrUnauthorized
		case "panic":
			panic("hook")
		case "nobody":
			return "nobody", 0, nil
		case "down":
			return "", 0, errors.New("ldap://secret-host is down")
		}
		return "ada", web.Operator, nil
	})}})
	x.get("/").wants(t, 401)
	for user, status := range map[string]int{"nobody": 403, "down": 403, "panic": 500, "ada": 200} {
		a := x.do("GET", "/", nil, headers{"X-User": user}).wants(t, status)
		if strings.Contains(a.body, "secret") || strings.Contains(a.body, "goroutine") {
			t.Errorf("%s: internal words in the page", user)
		}
	}
}

// SEC-07: a viewer may look at everything and change nothing, whatever the buttons
// show. The walk takes the routes from the table itself.
func TestViewerChangesNothing(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Demo: demo, Access: web.Authorize(func(*fiber.Ctx) (string, web.Role, error) {
		return "eve", web.Viewer, nil
	})}})
	id := strconv.FormatInt(x.enqueue(note{}), 10)
	before := x.picture()
	form := url.Values{"do": {"delete"}, "target": {id + ":enqueued"}, "queue": {"default"}, "card": {"note"}, "theme": {"dark"}}
	posts := 0
	for _, r := range web.Routes() {
		path := strings.NewReplacer(":id", id, ":name", "x", "*", "default").Replace(r.Path)
		switch {
		case r.Method == "POST" && r.Path == "/theme":
			x.post(path, form).wants(t, 303) // stays in the browser
		case r.Method == "POST" && r.Path == "/jobs/views":
			x.post(path, form).wants(t, 400, "Field view") // as well
		case r.Method != "GET":
			posts++
			for _, do := range []string{"delete", "once", "fresh", "requeue", "restore", "pause", "resume"} {
				form.Set("do", do)
				x.do(r.Method, path, form, ours).wants(t, 403, "viewer")
			}
		default:
			if a := x.get(path); a.StatusCode >= 500 || strings.Contains(a.body, `name="do"`) {
				t.Errorf("%s: status %d, or it offers an action", path, a.StatusCode)
			}
		}
	}
	if after := x.picture(); posts < 4 || after != before {
		t.Errorf("%d actions tried; database before %s, after %s", posts, before, after)
	}
}

// picture counts everything that an action could change.
func (x *site) picture() (p string) {
	x.t.Helper()
	for _, table := range []string{"jobs", "ready", "scheduled", "failed", "running", "history", "queues", "audit"} {
		var n int
		if err := x.db.QueryRow("select count(*) from " + x.db.Schema() + "." + table).Scan(&n); err != nil {
			x.t.Fatal(err)
		}
		p += fmt.Sprintf("%s %d ", table, n)
	}
	return p
}

// SEC-03: what another site can make a browser send does nothing.
func TestForgedRequests(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None(), Demo: demo}})
	own := "http://" + x.host
	const token = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for _, c := range []struct {
		name   string
		h      headers
		token  string
		status int
	}{
		{"same origin", headers{"Sec-Fetch-Site": "same-origin"}, "", 303},
		{"same origin beats a strange Origin", headers{"Sec-Fetch-Site": "same-origin", "Origin": "null"}, "", 303},
		{"cross site", headers{"Sec-Fetch-Site": "cross-site"}, "", 403},
		{"same site, other host", headers{"Sec-Fetch-Site": "same-site"}, "", 403},
		{"typed address", headers{"Sec-Fetch-Site": "none"}, "", 403},
		{"cross site with all the rest", headers{"Sec-Fetch-Site": "cross-site", "Origin": own, "Cookie": "tekrar_token=" + token}, token, 403},
		{"nothing", headers{}, "", 403},
		{"origin without token", headers{"Origin": own}, "", 403},
		{"token without origin", headers{"Cookie": "tekrar_token=" + token}, token, 403},
		{"old browser", headers{"Origin": own, "Cookie": "tekrar_token=" + token}, token, 303},
		{"wrong token", headers{"Origin": own, "Cookie": "tekrar_token=" + token}, token[:25] + "x", 403},
		{"empty token", headers{"Origin": own, "Cookie": "tekrar_token="}, "", 403},
		{"foreign origin", headers{"Origin": "http://evil.example", "Cookie": "tekrar_token=" + token}, token, 403},
		{"null origin", headers{"Origin": "null", "Cookie": "tekrar_token=" + token}, token, 403},
		{"other port", headers{"Origin": "http://127.0.0.1:1", "Cookie": "tekrar_token=" + token}, token, 403},
	} {
		id := x.enqueue(note{})
		form := url.Values{"do": {"delete"}, "target": {fmt.Sprintf("%d:enqueued", id)}, "token": {c.token}}
		x.do("POST", "/jobs/act", form, c.h).wants(t, c.status)
		want := store.Enqueued
		if c.status == 303 {
			want = store.Deleted
		}
		if got := x.state(id); got != want {
			t.Errorf("%s: job is %s, want %s", c.name, got, want)
		}
	}
	before := x.picture()
	for _, path := range []string{"/jobs/act?do=delete", "/jobs/confirm", "/queues/act?do=pause&queue=default", "/demo/enqueue?card=note", "/theme?theme=dark"} {
		if a := x.do("GET", path, nil, nil); a.StatusCode < 400 {
			t.Errorf("GET %s: %d", path, a.StatusCode)
		}
	}
	x.do("GET", "/jobs/act", nil, nil).wants(t, 405, "POST only")
	x.do("PUT", "/jobs", url.Values{}, ours).wants(t, 405, "GET, HEAD")
	x.do("DELETE", "/jobs/1", nil, ours).wants(t, 405)
	if after := x.picture(); before != after {
		t.Errorf("a GET changed something: %s, then %s", before, after)
	}
}

// SEC-04: the token of a form outlives the process, and a page whose token is gone
// is told so. The buttons of a page work with the token that the page carries.
func TestOldPages(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None(), Demo: demo}})
	page := x.get("/demo").wants(t, 200)
	cookie := page.Cookies()[0]
	_, rest, ok := strings.Cut(page.body, `name="token" value="`)
	token, _, _ := strings.Cut(rest, `"`)
	if !ok || cookie.Value != token || !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" {
		t.Fatalf("token %q, cookie %v", token, cookie)
	}
	form := url.Values{"card": {"note"}, "arg.text": {"x"}, "token": {token}}
	restarted := open(t, settings{options: web.Options{Access: web.None(), Demo: demo}})
	for _, s := range []*site{x, restarted} {
		s.do("POST", "/demo/enqueue", form, headers{"Origin": "http://" + s.host, "Cookie": cookie.Name + "=" + token}).wants(t, 303)
		s.do("POST", "/demo/enqueue", form, headers{"Origin": "http://" + s.host}).wants(t, 403, "reload the page")
	}
}

// ARG-13: on a user's app the strings of a request are overwritten by the next one.
func TestParallelRequestsKeepTheirOwnText(t *testing.T) {
	t.Parallel()
	x := open(t, settings{prefix: "/jobs", fiber: &fiber.Config{}, options: web.Options{Access: web.None(), Demo: demo}})
	const n = 200
	errs := make(chan error, n)
	for i := range n {
		go func() {
			text := fmt.Sprintf("%08d-%s", i, strings.Repeat(string(rune('A'+i%26)), 20+i%50))
			form := url.Values{"card": {"note"}, "arg.text": {text}}
			req, _ := http.NewRequest("POST", "http://"+x.host+"/jobs/demo/enqueue", strings.NewReader(form.Encode()))
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.Header.Set("Sec-Fetch-Site", "same-origin")
			res, err := x.http.Do(req)
			if err == nil {
				res.Body.Close()
				if res.StatusCode != 303 {
					err = errors.New(res.Status)
				}
			}
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	rows, _, err := x.db.Jobs(t.Context(), store.JobFilter{State: jobs.Enqueued, Limit: 500})
	if err != nil || len(rows) != n {
		t.Fatalf("%d jobs, %v", len(rows), err)
	}
	for _, j := range rows {
		d, err := x.db.Job(t.Context(), j.ID, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		var i int
		if _, err := fmt.Sscanf(string(d.Args), `{"fail": false, "text": "%08d-`, &i); err != nil {
			t.Fatalf("args %s: %v", d.Args, err)
		}
		want := fmt.Sprintf("%08d-%s", i, strings.Repeat(string(rune('A'+i%26)), 20+i%50))
		if !strings.Contains(string(d.Args), `"`+want+`"`) || seen[want] {
			t.Errorf("args %s: not what request %d sent, or twice", d.Args, i)
		}
		seen[want] = true
	}
}
