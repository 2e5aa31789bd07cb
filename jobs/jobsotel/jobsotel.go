// Package jobsotel makes OpenTelemetry spans of jobs: one for each enqueue, and one
// for each attempt in the trace of its enqueue, whatever process runs it and however
// much later.
//
//	cfg := jobs.Config{}
//	jobsotel.Instrument(&cfg, jobsotel.Options{})
//	client, err := jobs.New(db, cfg)
//
// What goes along with the job is the W3C trace context, no baggage. Jobs of
// recurring jobs begin a trace with each attempt.
//
// Spans of enqueues have the kind producer and the name "enqueue <kind>", those of
// attempts the kind consumer and the name "run <kind>". Attributes, each where it is
// known: messaging.system (tekrar), messaging.operation.type (send, process),
// messaging.destination.name (the queue), messaging.batch.message_count,
// tekrar.job.id (text), tekrar.job.kind, tekrar.job.attempt, tekrar.job.duplicate.
// An attempt that ends with an error has it as an event and the status error, also
// when a retry follows.
package jobsotel

import (
	"context"
	"fmt"
	"runtime/debug"
	"strconv"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/tekrar/tekrar/jobs"
)

const scope = "github.com/tekrar/tekrar/jobs/jobsotel"

// Options of Instrument. The zero value is good.
type Options struct {
	// Provider makes the spans. Zero: the global one, otel.GetTracerProvider().
	Provider trace.TracerProvider
}

// Instrument adds spans to a client that is made of cfg afterwards. The middleware
// becomes the outermost one; a hook Enqueuing that is set already is an error,
// because jobs carry one trace.
func Instrument(cfg *jobs.Config, o Options) error {
	if cfg.Hooks.Enqueuing != nil {
		return fmt.Errorf("jobsotel: the hook Enqueuing is set already")
	}
	if o.Provider == nil {
		o.Provider = otel.GetTracerProvider()
	}
	tracer := o.Provider.Tracer(scope)
	cfg.Hooks.Enqueuing = enqueuing(tracer)
	cfg.Middleware = append([]jobs.Middleware{running(tracer)}, cfg.Middleware...)
	return nil
}

func enqueuing(tracer trace.Tracer) func(context.Context, []string) (string, func([]jobs.EnqueueResult, error)) {
	return func(ctx context.Context, kinds []string) (string, func([]jobs.EnqueueResult, error)) {
		ctx, span := tracer.Start(ctx, "enqueue "+nameOf(kinds), trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(
			attribute.String("messaging.system", "tekrar"), attribute.String("messaging.operation.type", "send"),
		))
		if len(kinds) == 1 {
			span.SetAttributes(attribute.String("tekrar.job.kind", kinds[0]))
		} else {
			span.SetAttributes(attribute.Int("messaging.batch.message_count", len(kinds)))
		}
		return carry(ctx), func(all []jobs.EnqueueResult, err error) {
			if len(all) == 1 {
				span.SetAttributes(attribute.String("tekrar.job.id", strconv.FormatInt(all[0].ID, 10)), attribute.Bool("tekrar.job.duplicate", all[0].Duplicate))
			}
			failed(span, err)
			span.End()
		}
	}
}

// nameOf keeps the number of span names small.
func nameOf(kinds []string) string {
	for _, k := range kinds {
		if k != kinds[0] {
			return "several kinds"
		}
	}
	return kinds[0]
}

func running(tracer trace.Tracer) jobs.Middleware {
	return func(next jobs.HandlerFunc) jobs.HandlerFunc {
		return func(ctx context.Context, a jobs.AttemptInfo) (err error) {
			ctx, span := tracer.Start(resume(ctx, a.Trace), "run "+a.Kind, trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
				attribute.String("messaging.system", "tekrar"), attribute.String("messaging.operation.type", "process"),
				attribute.String("messaging.destination.name", a.Queue), attribute.String("tekrar.job.kind", a.Kind),
				attribute.String("tekrar.job.id", strconv.FormatInt(a.JobID, 10)), attribute.Int("tekrar.job.attempt", a.Attempt),
			))
			returned := false
			defer func() {
				if !returned { // a panic passes through, to the engine; so does Goexit
					span.AddEvent("exception", trace.WithAttributes(attribute.String("exception.stacktrace", string(debug.Stack()))))
					span.SetStatus(codes.Error, "the handler panicked or ended its goroutine")
				}
				span.End()
			}()
			err = next(ctx, a)
			returned = true
			failed(span, err)
			return err
		}
	}
}

func failed(span trace.Span, err error) {
	if err != nil {
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
	}
}
