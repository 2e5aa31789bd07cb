package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// A filter names the jobs instead of their ids, as the dashboard's bulk action does.
func TestMoveAllOfAFilter(t *testing.T) {
	t.Parallel()
	env := onDatabase(t)
	db := storetest.Open(t, strings.TrimPrefix(env[0], "DATABASE_URL="), store.Options{})
	failed := failedJob(t, env)
	for _, queue := range []string{"mail", "mail", "mail", "other"} {
		tekrar(t, env, "jobs", "enqueue", "bad", `{"N":1}`, "--queue", queue, "--in", "2h").wantDone(t)
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"jobs", "requeue"}, "Give their IDs, or --all"},
		{[]string{"jobs", "requeue", "--all", "7"}, `there is "7"`},
		{[]string{"jobs", "delete", "--state", "scheduled", "7"}, "go with --all"},
		{[]string{"jobs", "delete", "--kind", "bad"}, "go with --all"},
		{[]string{"jobs", "delete", "--all", "--yes", failed}, "takes a filter and no IDs"},
		{[]string{"jobs", "requeue", "--all", "--state", "processing"}, "cannot be requeued"},
		{[]string{"jobs", "requeue", "--all", "--query", "state:enqueued"}, "cannot be requeued"},
		{[]string{"jobs", "delete", "--all", "--state", "deleted"}, "deleted already"},
		{[]string{"jobs", "delete", "--all", "--state", "gone"}, "--state"},
		{[]string{"jobs", "delete", "--all", "--query", "args.x:"}, "--query"},
	} {
		tekrar(t, env, c.args...).wantFailure(t, 2, c.says)
	}
	counts, err := db.Counts(t.Context())
	if err != nil || counts[store.Scheduled].N != 4 || counts[store.Failed].N != 1 {
		t.Fatalf("bad input changed something: %v, %v", counts, err)
	}
	if out := tekrar(t, env, "jobs", "delete", "--all", "--queue", "none", "--yes").wantDone(t); out != "delete: 0 jobs\n" {
		t.Errorf("no such job had failed: %s", out)
	}
	out := tekrar(t, env, "jobs", "delete", "--all", "--state", "scheduled", "--queue", "mail", "--yes", "--json").wantDone(t)
	var whole struct {
		Operation, Action, State string
		Jobs, Skipped            int
	}
	if err := json.Unmarshal([]byte(out), &whole); err != nil || whole.Operation == "" || whole.State != "done" || whole.Jobs != 3 {
		t.Errorf("%s: %+v, %v", out, whole, err)
	}
	if out := tekrar(t, env, "jobs", "requeue", "--all", "--query", "state:deleted kind:bad").wantDone(t); out != "requeue: 3 jobs\n" {
		t.Error(out)
	}
	counts, err = db.Counts(t.Context())
	if err != nil || counts[store.Enqueued].N != 3 || counts[store.Scheduled].N != 1 {
		t.Errorf("%v, %v", counts, err)
	}
}

// Ctrl-C stops the operation and tells what it did; it does not walk away from it.
func TestInterruptStopsABulkOperation(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	client, err := jobs.New(db, jobs.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	var items []jobs.Item
	for range 5000 {
		items = append(items, jobs.Item{Args: bad{}, Options: []jobs.EnqueueOption{jobs.In(time.Hour)}})
	}
	if _, err := client.EnqueueMany(t.Context(), items); err != nil {
		t.Fatal(err)
	}
	b := jobs.Bulk{Action: "delete", Filter: store.JobFilter{State: store.Scheduled}, Expected: 5000}
	id, err := client.StartBulk(t.Context(), "ann", b)
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	p := &program{stdout: t.Output(), stderr: t.Output()}
	now, err := p.follow(ctx, client, id, b, false)
	if err != nil || now.State == store.BulkRunning {
		t.Fatalf("%+v, %v", now, err)
	}
	t.Logf("state %d after %d jobs", now.State, now.Done)
	if now.State == store.BulkStopped && (now.StoppedBy == "" || now.Done == 5000) {
		t.Errorf("%+v", now)
	}
}
