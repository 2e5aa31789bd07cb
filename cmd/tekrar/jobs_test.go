package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

type bad struct{ N int64 }

func (bad) Kind() string { return "bad" }

const nasty = "\x1b[31mred\x1b[0m \u009b1m <script>\nsecond line"

// failedJob leaves one failed job, whose error is nasty, and gives its id.
func failedJob(t *testing.T, env []string) string {
	t.Helper()
	dsn := strings.TrimPrefix(env[0], "DATABASE_URL=")
	db := storetest.Open(t, dsn, store.Options{})
	client, err := jobs.New(db, jobs.Config{Workers: 1, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	jobs.Handle(client, func(context.Context, *jobs.Job[bad]) error { return jobs.Permanent(errors.New(nasty)) })
	job, err := client.Enqueue(t.Context(), bad{N: 1970670598291982290})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	done := make(chan error, 1)
	go func() { done <- client.Run(ctx) }()
	for poll := time.Tick(10 * time.Millisecond); ; {
		d, err := db.Job(t.Context(), job.ID, 1, 0)
		if err != nil || ctx.Err() != nil {
			t.Fatal(err, ctx.Err())
		}
		if d.State == store.Failed {
			break
		}
		<-poll
	}
	cancel()
	<-done
	out := tekrar(t, env, "jobs", "list", "--json").wantDone(t)
	var list struct{ Jobs []struct{ ID string } }
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Jobs) != 1 {
		t.Fatalf("list is %s: %v", out, err)
	}
	return list.Jobs[0].ID
}

// LIF-11, ERR-06, ARG-03
func TestOutputIsSafeForTerminals(t *testing.T) {
	t.Parallel()
	env := onDatabase(t)
	id := failedJob(t, env)
	for _, args := range [][]string{
		{"jobs", "list"}, {"jobs", "show", id}, {"jobs", "list", "--json"}, {"jobs", "show", id, "--json"},
	} {
		out := tekrar(t, env, args...).wantDone(t)
		for _, r := range out {
			if r != '\n' && unsafe(r) {
				t.Errorf("%v: %U reaches the terminal", args, r)
			}
		}
		if !strings.Contains(out, "red") || !strings.Contains(out, "bad") {
			t.Errorf("%v shows neither error nor kind:\n%s", args, out)
		}
		if args[1] == "show" && !strings.Contains(out, "1970670598291982290") {
			t.Errorf("%v lost digits:\n%s", args, out)
		}
		if strings.Contains(strings.Join(args, " "), "--json") && !json.Valid([]byte(out)) {
			t.Errorf("%v: no JSON:\n%s", args, out)
		}
	}
}

func TestRequeueAndDelete(t *testing.T) {
	t.Parallel()
	env := onDatabase(t)
	id := failedJob(t, env)
	if out := tekrar(t, env, "jobs", "requeue", id, "--fresh").wantDone(t); out != "job "+id+": now enqueued\n" {
		t.Errorf("requeue: %s", out)
	}
	if out := tekrar(t, env, "jobs", "show", id).wantDone(t); !strings.Contains(out, "Requeued by "+actor()) {
		t.Errorf("the history does not say who: %s", out)
	}
	if out := tekrar(t, env, "jobs", "delete", id, "--json").wantDone(t); !strings.Contains(out, `"state": "deleted"`) {
		t.Errorf("delete: %s", out)
	}
	r := tekrar(t, env, "jobs", "delete", id, "999999")
	r.wantFailure(t, 1, "2 of 2 jobs were not changed")
	if !strings.Contains(r.out, "not possible in this state (deleted)") || !strings.Contains(r.out, "job 999999: not found") {
		t.Errorf("second delete: %s", r.out)
	}
	tekrar(t, env, "jobs", "show", "999999").wantFailure(t, 1, "job 999999", "not found")
}

// EXE-14: cancel is for jobs that run; of others it says where they are.
func TestCancel(t *testing.T) {
	t.Parallel()
	env := onDatabase(t)
	failed := failedJob(t, env)
	db := storetest.Open(t, strings.TrimPrefix(env[0], "DATABASE_URL="), store.Options{})
	server, err := db.Register(t.Context(), store.NewServer{Name: "deaf", Host: "h", Lease: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	tekrar(t, env, "jobs", "requeue", failed).wantDone(t)
	if out := tekrar(t, env, "jobs", "cancel", failed); !strings.Contains(out.out, "not possible in this state (enqueued)") {
		t.Errorf("cancel of a waiting job: %s", out.out)
	}
	claimed, err := db.Claim(t.Context(), server, []store.Lane{{Queue: "default"}}, []string{"bad"}, 1)
	if err != nil || len(claimed) != 1 {
		t.Fatal(claimed, err)
	}
	if out := tekrar(t, env, "jobs", "cancel", failed).wantDone(t); out != "job "+failed+": asked to end\n" {
		t.Errorf("cancel: %s", out)
	}
	d, err := db.Job(t.Context(), claimed[0].ID, 1, 0)
	if err != nil || d.Cancel == nil || d.Cancel.By != actor() {
		t.Errorf("the request is %+v, %v", d.Cancel, err)
	}
}

// ARG-01, LIF-10
func TestEnqueue(t *testing.T) {
	t.Parallel()
	env := onDatabase(t)
	tekrar(t, env, "jobs", "enqueue", "any.kind", `{"id":1970670598291982290}`, "--queue", "a/b 100%", "--priority", "-4").wantDone(t)
	tekrar(t, env, "jobs", "enqueue", "any.kind", `{}`, "--in", "2h", "--json").wantDone(t)
	out := tekrar(t, env, "jobs", "list", "--state", "enqueued", "--queue", "a/b 100%").wantDone(t)
	if !strings.Contains(out, "a/b 100%") {
		t.Errorf("list: %s", out)
	}
	out = tekrar(t, env, "jobs", "list", "--state", "scheduled", "--json").wantDone(t)
	if strings.Count(out, `"run_at"`) != 1 {
		t.Errorf("scheduled: %s", out)
	}
	for _, tt := range []struct {
		args  []string
		code  int
		words []string
	}{
		{[]string{"k", `{"s":"a\u0000b"}`}, 1, []string{"$.s"}},
		{[]string{"k", `{"s":`}, 1, []string{"args"}},
		{[]string{"k", `[1]`}, 1, []string{"args", "object"}},
		{[]string{"", `{}`}, 1, []string{"kind"}},
		{[]string{"k", `{}`, "--priority", "9"}, 2, []string{"--priority", "-4 to 4"}},
		{[]string{"k", `{}`, "--at", "tomorrow"}, 2, []string{"--at", "2026-01-31T09:00:00Z"}},
		{[]string{"k", `{}`, "--at", "9999-12-31T23:59:59-23:00"}, 1, []string{"9999"}},
	} {
		tekrar(t, env, append([]string{"jobs", "enqueue"}, tt.args...)...).wantFailure(t, tt.code, tt.words...)
	}
}

func TestListGoesOn(t *testing.T) {
	t.Parallel()
	env := onDatabase(t)
	for range 3 {
		tekrar(t, env, "jobs", "enqueue", "k", `{}`).wantDone(t)
	}
	seen := 0
	for args, pages := []string{"jobs", "list", "--state", "enqueued", "--limit", "2", "--json"}, 0; pages < 5; pages++ {
		var list struct {
			Jobs []json.RawMessage
			Next string
		}
		if err := json.Unmarshal([]byte(tekrar(t, env, args...).wantDone(t)), &list); err != nil {
			t.Fatal(err)
		}
		seen += len(list.Jobs)
		if list.Next == "" {
			break
		}
		args = append(args[:7:7], "--after", list.Next)
	}
	if seen != 3 {
		t.Errorf("walked over %d jobs, want 3", seen)
	}
	tekrar(t, env, "jobs", "list", "--after", "nonsense").wantFailure(t, 2, "--after", "nonsense")
}

// LIF-11: more jobs than one transaction takes are all changed, and told once each.
func TestManyJobsAreChangedInParts(t *testing.T) {
	t.Parallel()
	env := onDatabase(t)
	client := clientOf(t, env)
	items := make([]jobs.Item, movedAtOnce+2)
	for i := range items {
		items[i] = jobs.Item{Args: tick{}}
	}
	made, err := client.EnqueueMany(t.Context(), items)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"jobs", "delete", "--yes", "--json"}
	for _, m := range made {
		args = append(args, fmt.Sprint(m.ID))
	}
	var told []struct{ ID, State string }
	if err := json.Unmarshal([]byte(tekrar(t, env, args...).wantDone(t)), &told); err != nil {
		t.Fatal(err)
	}
	if len(told) != len(made) || told[0].ID != fmt.Sprint(made[0].ID) || told[len(told)-1].State != "deleted" {
		t.Errorf("%d of %d jobs told, the last %+v", len(told), len(made), told[len(told)-1])
	}
}
