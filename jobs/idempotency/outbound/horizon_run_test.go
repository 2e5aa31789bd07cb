package outbound

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

type confirmation struct{}

func (confirmation) Kind() string { return "order-confirmation" }

// minutes is a policy that a key of five minutes does not outlive.
var minutes = jobs.Retry(jobs.RetryPolicy{MaxRetries: 3, Delays: []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}})

const tooFar = "retry 2 may start 10m0s after the first request, beyond the key life of short-mail (5m0s less 30s); the last one ends after 29m0s"

func handling(t *testing.T, db *store.DB, log *bytes.Buffer, opts ...jobs.HandleOption) *jobs.Client {
	t.Helper()
	c, err := jobs.New(db, jobs.Config{Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	jobs.Handle(c, func(context.Context, *jobs.Job[confirmation]) error { return nil }, opts...)
	return c
}

// A kind whose retries outlive the key is warned of once, at its registration, and
// published so.
func TestHorizonIsPublishedWithTheKind(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	var log bytes.Buffer
	c := handling(t, db, &log, minutes, jobs.Timeout(90*time.Second), Horizon(idempotency.Warn, ShortMail(), Article()))
	if n := strings.Count(log.String(), "retry 2 may start"); n != 1 || !strings.Contains(log.String(), "level=WARN") {
		t.Errorf("warned %d times, want once: %s", n, log.String())
	}
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- c.Run(ctx) }()
	if _, err := c.Enqueue(t.Context(), confirmation{}); err != nil {
		t.Fatal(err)
	}
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	var kinds []store.KindRow
	for deadline := time.Now().Add(30 * time.Second); len(kinds) == 0; <-poll.C {
		var err error
		if kinds, err = db.Kinds(t.Context()); err != nil || time.Now().After(deadline) {
			t.Fatal("the kind is not published: ", err)
		}
	}
	cancel()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	p, err := jobs.ParsePolicy(kinds[0].Policy)
	if err != nil || len(p.Warnings) != 1 || p.Warnings[0] != tooFar {
		t.Errorf("published %q %v, want %q", p.Warnings, err, tooFar)
	}
	if n := strings.Count(log.String(), "retry 2 may start"); n != 1 {
		t.Errorf("warned %d times", n)
	}
}

// Strict refuses at the start, and says which retry; the client's own policy and
// timeout count where the kind has none.
func TestHorizonStrictRefusesToStart(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	var log bytes.Buffer
	err := handling(t, db, &log, minutes, jobs.Timeout(90*time.Second), Horizon(idempotency.Strict, ShortMail())).Run(t.Context())
	input, ok := errors.AsType[*jobs.InputError](err)
	if !ok || input.Field != "retry policy" || !strings.Contains(err.Error(), "order-confirmation") || !strings.Contains(err.Error(), tooFar) {
		t.Errorf("Run: %v", err)
	}
	if kinds, err := db.Kinds(t.Context()); err != nil || len(kinds) != 0 {
		t.Errorf("published all the same: %v %v", kinds, err)
	}
	err = handling(t, db, &log, Horizon(idempotency.Strict, ShortMail())).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "without a timeout") {
		t.Errorf("no timeout: %v", err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for name, opts := range map[string][]jobs.HandleOption{
		"off":        {minutes, Horizon(idempotency.Off, ShortMail())},
		"fits":       {minutes, jobs.Timeout(time.Minute), Horizon(idempotency.Strict, Article(), NoKeys())},
		"no retries": {jobs.Retry(jobs.NoRetry()), Horizon(idempotency.Strict, ShortMail())},
	} {
		log.Reset()
		if err := handling(t, db, &log, opts...).Run(done); err != nil || log.Len() > 0 {
			t.Errorf("%s: %v %s", name, err, log.String())
		}
	}
	if err := handling(t, db, &log, jobs.CheckPlan(nil)).Run(done); err == nil {
		t.Error("a nil check is taken")
	}
}
