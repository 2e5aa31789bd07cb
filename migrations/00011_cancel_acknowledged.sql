-- +goose Up

-- When the server of the running attempt cancelled its handler's context for the
-- request in cancel_requested_at. Null with a request: it has not, or runs a version
-- that does not say so.
alter table running add column cancel_acknowledged_at timestamptz;

-- +goose Down
alter table running drop column cancel_acknowledged_at;
