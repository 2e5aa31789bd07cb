-- +goose Up

-- Who asked a running attempt to end; set together with cancel_requested_at. The
-- first request stays. However the attempt ends, the settle writes both into its
-- history row, and the attempt that does not succeed deletes the job.
alter table running add column cancel_requested_by text;

-- +goose Down
alter table running drop column cancel_requested_by;
