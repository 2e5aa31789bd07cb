package jobsotel_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/jobsotel"
	"github.com/tekrar/tekrar/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Run(m)) }

type mail struct {
	Do string `json:"do"`
}

func (mail) Kind() string { return "mail" }

type bench struct {
	client *jobs.Client
	tracer trace.Tracer
	spans  *tracetest.InMemoryExporter
}

func start(t *testing.T) bench {
	t.Helper()
	spans := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(spans))
	cfg := jobs.Config{Logger: slog.New(slog.DiscardHandler), Workers: 4}
	if err := jobsotel.Instrument(&cfg, jobsotel.Options{Provider: provider}); err != nil {
		t.Fatal(err)
	}
	if err := jobsotel.Instrument(&cfg, jobsotel.Options{}); err == nil {
		t.Error("a second Instrument replaced the first one")
	}
	client, err := jobs.New(storetest.New(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	jobs.Handle(client, func(ctx context.Context, j *jobs.Job[mail]) error {
		_, span := provider.Tracer("test").Start(ctx, "inside")
		defer span.End()
		switch {
		case j.Args.Do == "retry" && j.Attempt == 1:
			return errors.New("mailbox full")
		case j.Args.Do == "panic":
			panic("boom")
		}
		return nil
	}, jobs.Retry(jobs.RetryPolicy{MaxRetries: 1, Delays: []time.Duration{0}}))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- client.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return bench{client, provider.Tracer("test"), spans}
}

// named waits for n ended spans of a name, in the order of their begin.
func (b bench) named(t *testing.T, name string, n int) []tracetest.SpanStub {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		found := slices.DeleteFunc(b.spans.GetSpans(), func(s tracetest.SpanStub) bool { return s.Name != name })
		if len(found) >= n {
			slices.SortFunc(found, func(x, y tracetest.SpanStub) int { return x.StartTime.Compare(y.StartTime) })
			return found
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d spans %q within 20 s, want %d", len(found), name, n)
		}
	}
}

func attributes(s tracetest.SpanStub) map[string]string {
	m := map[string]string{}
	for _, a := range s.Attributes {
		m[string(a.Key)] = a.Value.String()
	}
	return m
}

// The caller's span, the enqueue, each attempt and what the handler does are one
// trace, through the database.
func TestOneTraceFromCallerToHandler(t *testing.T) {
	t.Parallel()
	b := start(t)
	ctx, caller := b.tracer.Start(t.Context(), "request")
	state, _ := trace.ParseTraceState("vendor=value")
	ctx = trace.ContextWithSpanContext(ctx, caller.SpanContext().WithTraceState(state))
	e, err := b.client.Enqueue(ctx, mail{Do: "retry"})
	if err != nil {
		t.Fatal(err)
	}
	runs := b.named(t, "run mail", 2)
	enqueue := b.named(t, "enqueue mail", 1)[0]
	if enqueue.Parent.SpanID() != caller.SpanContext().SpanID() || enqueue.SpanKind != trace.SpanKindProducer {
		t.Errorf("enqueue: parent %v, kind %v", enqueue.Parent.SpanID(), enqueue.SpanKind)
	}
	if got := attributes(enqueue)["tekrar.job.id"]; got != strconv.FormatInt(e.ID, 10) {
		t.Errorf("enqueue names job %q", got)
	}
	for i, run := range runs {
		a := attributes(run)
		if run.Parent.SpanID() != enqueue.SpanContext.SpanID() || !run.Parent.IsRemote() || run.SpanContext.TraceID() != caller.SpanContext().TraceID() ||
			run.SpanContext.TraceState().Get("vendor") != "value" || a["tekrar.job.attempt"] != strconv.Itoa(i+1) || a["messaging.destination.name"] != "default" {
			t.Errorf("run %d: parent %v, state %v, attributes %v", i+1, run.Parent, run.SpanContext.TraceState(), a)
		}
	}
	if runs[0].Status.Code != codes.Error || runs[0].Status.Description != "mailbox full" || runs[1].Status.Code != codes.Unset {
		t.Errorf("status %v, then %v", runs[0].Status, runs[1].Status)
	}
	if inside := b.named(t, "inside", 2); inside[1].Parent.SpanID() != runs[1].SpanContext.SpanID() {
		t.Error("the handler's span is not within its run")
	}
}

// Batches, transactions, panics and refused calls end their spans as well.
func TestOtherEnqueuesAndEnds(t *testing.T) {
	t.Parallel()
	b := start(t)
	if _, err := b.client.EnqueueMany(t.Context(), []jobs.Item{{Args: mail{}}, {Args: mail{Do: "panic"}}}); err != nil {
		t.Fatal(err)
	}
	runs, batch := b.named(t, "run mail", 3), b.named(t, "enqueue mail", 1)[0]
	panics := 0
	for _, run := range runs {
		if run.SpanContext.TraceID() != batch.SpanContext.TraceID() {
			t.Error("a job of the batch has a trace of its own")
		}
		if run.Status.Code == codes.Error {
			panics++
		}
	}
	if attributes(batch)["messaging.batch.message_count"] != "2" || panics != 2 {
		t.Errorf("batch %v, %d panics", attributes(batch), panics)
	}
	undo := errors.New("undo")
	err := b.client.DB().Tx(t.Context(), func(tx *sqlx.Tx) error {
		if _, err := b.client.EnqueueTx(t.Context(), tx, mail{}); err != nil {
			return err
		}
		_, err := b.client.EnqueueTx(t.Context(), tx, mail{}, jobs.After(999, jobs.Always))
		return errors.Join(undo, err)
	})
	if !errors.Is(err, undo) {
		t.Fatal(err)
	}
	all := b.named(t, "enqueue mail", 3)
	if all[1].Status.Code != codes.Unset || all[2].Status.Code != codes.Error {
		t.Errorf("status %v and %v", all[1].Status, all[2].Status)
	}
}
