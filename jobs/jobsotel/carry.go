package jobsotel

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/propagation"
)

// carry is the trace context as text that is stored with a job: traceparent, and
// after a newline the tracestate. Empty when ctx has none.
func carry(ctx context.Context) string {
	fields := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, fields)
	text := fields["traceparent"]
	if state := fields["tracestate"]; state != "" && text != "" {
		text += "\n" + state
	}
	return text
}

// resume adds what carry wrote to ctx. Anything else changes nothing.
func resume(ctx context.Context, text string) context.Context {
	parent, state, _ := strings.Cut(text, "\n")
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": parent, "tracestate": state})
}
