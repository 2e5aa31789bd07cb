package views

import (
	"net/url"
	"strings"
	"testing"
)

func TestOddQueueNamesArriveUnchanged(t *testing.T) {
	t.Parallel()
	names := []string{"a/b", "a b", "a+b", "100%", "?x=1", "#h", "&queue=z", "🐢", "ğ\"'<>", "..", strings.Repeat("q", 200)}
	l := Links{Prefix: "/ops"}
	for _, name := range names {
		u, err := url.Parse(l.Jobs(Failed, name, name, "c=+/"))
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		q := u.Query()
		if u.Path != "/ops/jobs" || u.Fragment != "" || q.Get("queue") != name || q.Get("kind") != name || q.Get("after") != "c=+/" || q.Get("state") != "failed" || len(q["queue"]) != 1 {
			t.Errorf("%q: %s", name, u)
		}
		job, err := url.Parse(l.Job(name))
		if err != nil || !strings.HasPrefix(job.EscapedPath(), "/ops/jobs/") || strings.Count(job.EscapedPath(), "/") != 3 {
			t.Errorf("%q is not one path segment: %v, %v", name, job, err)
		}
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	root := Links{Assets: map[string]string{"app.js": "app.0123.js"}}
	under := Links{Prefix: "/ops/"}
	for _, c := range []struct{ got, want string }{
		{root.Overview(), "/"},
		{under.Overview(), "/ops/"},
		{root.Jobs("", "", "", ""), "/jobs"},
		{root.Jobs(Failed, "", "", ""), "/jobs?state=failed"},
		{under.JobOlder("12", "7"), "/ops/jobs/12?before=7"},
		{root.Attempts(ChartFilter{Span: "1h", Scale: ScaleShare, Kind: "k", CodeVersion: "v1.2+b"}), "/attempts?span=1h&scale=share&kind=k&version=v1.2%2Bb"},
		{root.Asset("app.js"), "/static/app.0123.js"},
		{under.Asset("app.css"), "/ops/static/app.css"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

func TestTargetRoundTrip(t *testing.T) {
	t.Parallel()
	if id, s, ok := ParseTarget(Target("123", Failed)); id != "123" || s != Failed || !ok {
		t.Errorf("got %q, %q, %v", id, s, ok)
	}
	for _, bad := range []string{"", "123", ":failed", "123:"} {
		if _, _, ok := ParseTarget(bad); ok {
			t.Errorf("%q was taken", bad)
		}
	}
}
