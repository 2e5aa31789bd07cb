-- +goose Up

-- A continuation waits for its parent. condition: 1 the parent succeeded, 2 it did
-- not, 3 it ended.
alter table jobs add column parent_id bigint, add column condition smallint;
comment on column jobs.parent_id is 'The job that this one waited for; null: none.';
create index jobs_parent on jobs (parent_id, id) where parent_id is not null;

-- The fifth hot table: jobs whose parent has not ended. They have not started, so
-- there are no counters. Their state is -1, since 0 is no state anywhere.
create table awaiting (
    job_id    bigint primary key,
    parent_id bigint not null,
    since     timestamptz not null default clock_timestamp(),
    condition smallint not null,
    priority  smallint not null default 0,
    queue     text collate "C" not null,
    kind      text collate "C" not null
);
create index awaiting_parent on awaiting (parent_id, job_id);
create index awaiting_oldest on awaiting (since, job_id);
alter table awaiting set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);

create or replace view job as
select j.id, j.kind, j.queue,
       case h.state when -1 then 'awaiting' when 1 then 'scheduled' when 2 then 'enqueued' when 3 then 'processing'
                    when 4 then 'succeeded' when 5 then 'failed' when 6 then 'deleted' end as state,
       h.attempt, h.at as since, h.reason, j.args, j.created_at
from jobs j
cross join lateral (
    select * from history h where h.job_id = j.id and h.state <= 6 order by h.id desc limit 1
) h;

-- +goose Down
-- The older program knows no waiting for a parent: such jobs become deleted, from
-- where a person can restore them.
insert into history (job_id, at, attempt, state, queue, kind, reason)
select job_id, clock_timestamp(), 0, 6, queue, kind, 'Waited for job ' || parent_id || ' when continuations were removed from the schema'
from awaiting order by job_id;
update history set state = 1 where state = -1;

create or replace view job as
select j.id, j.kind, j.queue,
       case h.state when 1 then 'scheduled' when 2 then 'enqueued' when 3 then 'processing'
                    when 4 then 'succeeded' when 5 then 'failed' when 6 then 'deleted' end as state,
       h.attempt, h.at as since, h.reason, j.args, j.created_at
from jobs j
cross join lateral (
    select * from history h where h.job_id = j.id and h.state <= 6 order by h.id desc limit 1
) h;
drop table awaiting;
drop index jobs_parent;
alter table jobs drop column parent_id, drop column condition;
