-- +goose Up

alter table jobs add column trace text;
comment on column jobs.trace is 'W3C traceparent of the enqueue, and after a newline its tracestate if it has one; null: not traced.';

-- +goose Down
alter table jobs drop column trace;
