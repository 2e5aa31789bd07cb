package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/store"
)

// The list knows the search of the dashboard, with its words for what is wrong, and
// tells of nothing hidden.
func TestListByQuery(t *testing.T) {
	t.Parallel()
	env := onDatabase(t)
	for _, args := range []string{`{"order":{"id":42},"to":"ann","token":"hunter2"}`, `{"order":{"id":43},"to":"bob","iban":"TR33"}`} {
		tekrar(t, env, "jobs", "enqueue", "letter", args).wantDone(t)
	}
	failed := failedJob(t, env)
	find := func(want string, args ...string) {
		t.Helper()
		var list struct{ Jobs []struct{ ID string } }
		out := tekrar(t, env, append([]string{"jobs", "list", "--json"}, args...)...).wantDone(t)
		if err := json.Unmarshal([]byte(out), &list); err != nil {
			t.Fatal(err, out)
		}
		var ids []string
		for _, j := range list.Jobs {
			ids = append(ids, j.ID)
		}
		if slices.Sort(ids); strings.Join(ids, " ") != want {
			t.Errorf("%q found %q, want %q", args, ids, want)
		}
	}
	find("1", "--state", "enqueued", "--query", "args.order.id:42")
	find("2", "--query", "state:enqueued -args.to:ann kind:letter")
	find("1 2", "--query", "state:enqueued letter")
	find("2", "--query", "id:2") // wherever it stands
	find("", "--query", "id:2", "--state", "failed")
	find(failed, "--query", "error:RED")
	find("", "--query", "state:enqueued hunter2")
	find("1 2", "--query", "state:enqueued -hunter2")
	find("2", "--query", "state:enqueued tr33")
	find("", "--query", "state:enqueued tr33", "--redact", "iban")
	find("1", "--query", "state:enqueued hunter2", "--redact", "none")

	for query, want := range map[string]string{
		"colour:red": `--query knows no field "colour". Known ones: ` + store.KnownFields(), "attempt>x": "has no whole number after attempt",
		"state:lost": "unknown state", "args.token:x": "args.token is hidden here, and cannot be searched", "state:failed state:enqueued": "more than one state",
		strings.Repeat("x", 1001): "the limit is 1000",
	} {
		tekrar(t, env, "jobs", "list", "--query", query).wantFailure(t, 2, want)
	}
	tekrar(t, env, "jobs", "list", "--query", "state:enqueued", "--state", "failed").wantFailure(t, 2, "--query asks for enqueued jobs and --state for failed ones")
}

// A search that stops for breath goes on until the page is full or the list ends.
func TestListByQueryGoesOn(t *testing.T) {
	t.Parallel()
	env := onDatabase(t)
	for range 3 {
		tekrar(t, env, "jobs", "enqueue", "letter", "{}").wantDone(t)
	}
	var list struct {
		Jobs []struct{ ID string }
		Next string
	}
	seen := 0
	for {
		args := []string{"jobs", "list", "--json", "--limit", "2", "--query", "state:enqueued kind:letter", "--after", list.Next}
		list.Jobs, list.Next = nil, ""
		if err := json.Unmarshal([]byte(tekrar(t, env, args...).wantDone(t)), &list); err != nil {
			t.Fatal(err)
		}
		if seen += len(list.Jobs); list.Next == "" {
			break
		}
		if len(list.Jobs) != 2 {
			t.Fatalf("a page of %d goes on", len(list.Jobs))
		}
	}
	if seen != 3 {
		t.Errorf("%d jobs, want 3", seen)
	}
}
