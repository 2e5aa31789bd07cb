package jobstest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
)

// Found is a waiting job.
type Found[T jobs.Args] struct {
	ID       int64
	Args     T
	State    jobs.State // jobs.Enqueued, jobs.Scheduled or jobs.Awaiting
	Queue    string
	Priority int
	Parent   int64         // the job that it awaits; 0 if none
	Wait     time.Duration // until it is due; 0 if enqueued or awaiting
}

// searched is how many of the newest waiting jobs of a kind are looked at.
const searched = 1000

// RequireEnqueued returns the newest waiting job of T's kind that matches; match
// may be nil. q is the transaction that enqueued it, or db. The test fails if
// there is none, and lists those that did not match.
func RequireEnqueued[T jobs.Args](t testing.TB, db *jobs.DB, q jobs.Querier, match func(T) bool) Found[T] {
	t.Helper()
	all := waiting[T](t, db, q)
	var others []string
	for _, f := range all {
		if match == nil || match(f.Args) {
			return f
		}
		others = append(others, fmt.Sprintf("%+v", f.Args))
	}
	var zero T
	t.Fatalf("no waiting job of kind %q matches; %d others: %s", zero.Kind(), len(others), strings.Join(others[:min(5, len(others))], ", "))
	return Found[T]{}
}

// RequireNotEnqueued fails the test if a waiting job of T's kind matches.
func RequireNotEnqueued[T jobs.Args](t testing.TB, db *jobs.DB, q jobs.Querier, match func(T) bool) {
	t.Helper()
	for _, f := range waiting[T](t, db, q) {
		if match == nil || match(f.Args) {
			t.Fatalf("job %d of kind %q waits: %+v", f.ID, f.Args.Kind(), f.Args)
		}
	}
}

func waiting[T jobs.Args](t testing.TB, db *jobs.DB, q jobs.Querier) []Found[T] {
	t.Helper()
	var zero T
	list, err := db.WaitingOfKind(t.Context(), q, zero.Kind(), searched)
	if err != nil {
		t.Fatal(err)
	}
	found := make([]Found[T], len(list))
	for i, w := range list {
		found[i] = Found[T]{ID: w.ID, State: w.State, Queue: w.Queue, Priority: w.Priority, Parent: w.Parent, Wait: w.Wait}
		if err := json.Unmarshal([]byte(w.Args), &found[i].Args); err != nil {
			t.Fatalf("args of job %d: %v", w.ID, err)
		}
	}
	return found
}
