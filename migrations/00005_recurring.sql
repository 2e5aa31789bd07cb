-- +goose Up

alter table jobs add column fire_at timestamptz, add column recurring_id text collate "C";
comment on column jobs.fire_at is 'Of a job that a recurring job made: the due time it stands for; else null.';

-- A recurring job. next_run: null when nothing is to come. waiting_fire: the one
-- fire that "queue_one" holds back until the job before it has finished; look_again:
-- when to look whether it has. definition: hash of what the code last declared, so
-- that a start without changes in the code leaves edits by people alone.
create table recurring (
    id           text collate "C" primary key,
    next_run     timestamptz,
    look_again   timestamptz,
    due_at       timestamptz generated always as (least(next_run, look_again)) stored,
    last_fire    timestamptz,
    waiting_fire timestamptz,
    start_at     timestamptz,
    end_at       timestamptz,
    paused_at    timestamptz,
    removed_at   timestamptz,
    created_at   timestamptz not null default clock_timestamp(),
    updated_at   timestamptz not null default clock_timestamp(),
    timeout_ms   bigint,
    failures     integer not null default 0,
    priority     smallint not null default 0,
    declared     boolean not null default false,
    kind         text collate "C" not null,
    queue        text collate "C" not null,
    spec         text not null,
    zone         text not null default 'UTC',
    misfire      text not null default 'run_once',
    overlap      text not null default 'allow',
    definition   text not null default '',
    paused_by    text,
    warning      text not null default '',
    error        text not null default '',
    args         jsonb not null default '{}',
    policy       jsonb
);
create index recurring_due on recurring (due_at) where paused_at is null and removed_at is null;

-- One row a fire. outcome: 1 enqueued, 2 skipped, 3 waiting. state: where its job
-- ended, written when retention removes the job; job_id is null from then on.
create table recurring_fires (
    recurring_id text collate "C" not null,
    fire_at      timestamptz not null,
    job_id       bigint,
    outcome      smallint not null,
    state        smallint,
    note         text not null default '',
    primary key (recurring_id, fire_at)
);
create index recurring_fires_job on recurring_fires (job_id) where job_id is not null;
create index recurring_fires_enqueued on recurring_fires (recurring_id, fire_at) where job_id is not null;

-- What each server declares in its code: what no live server declares is removed.
alter table servers add column recurring text[] not null default '{}';

-- +goose Down
alter table servers drop column recurring;
drop table recurring_fires, recurring;
alter table jobs drop column fire_at, drop column recurring_id;
