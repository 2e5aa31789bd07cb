-- +goose Up

-- How many scheduled jobs each queue, kind and cause has, so that no page counts them
-- one by one: as failure_groups of failed jobs. What holds is the sum of
-- scheduled_counts and scheduled_changes.
create table scheduled_counts (
    n     bigint not null,
    cause smallint not null,
    queue text collate "C" not null,
    kind  text collate "C" not null,
    primary key (queue, kind, cause)
) with (fillfactor = 50);

create table scheduled_changes (
    n     bigint not null,
    cause smallint not null,
    queue text collate "C" not null,
    kind  text collate "C" not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);

-- The path is set within the function only, so that its statements are planned once a
-- session although the schema may have any name: planning them anew took as long as an
-- enqueue. A statement that schedules no job ends before that.
-- +goose StatementBegin
create function count_scheduled() returns trigger language plpgsql set search_path = pg_catalog as $$
begin
    if tg_op = 'INSERT' then
        if not exists (select from added) then return null; end if;
    elsif tg_op = 'DELETE' then
        if not exists (select from gone) then return null; end if;
    end if;
    perform set_config('search_path', quote_ident(tg_table_schema), true);
    if tg_op = 'TRUNCATE' then
        delete from scheduled_changes;
        delete from scheduled_counts;
    end if;
    if tg_op in ('DELETE', 'UPDATE') then
        insert into scheduled_changes (n, cause, queue, kind) select -count(*), cause, queue, kind from gone group by cause, queue, kind;
    end if;
    if tg_op in ('INSERT', 'UPDATE') then
        insert into scheduled_changes (n, cause, queue, kind) select count(*), cause, queue, kind from added group by cause, queue, kind;
    end if;
    return null;
end $$;
-- +goose StatementEnd

-- Their lock keeps writers away until what is there has been counted.
create trigger count_added after insert on scheduled referencing new table as added for each statement execute function count_scheduled();
create trigger count_gone after delete on scheduled referencing old table as gone for each statement execute function count_scheduled();
create trigger count_changed after update on scheduled referencing old table as gone new table as added for each statement execute function count_scheduled();
create trigger count_none after truncate on scheduled for each statement execute function count_scheduled();

insert into scheduled_counts (n, cause, queue, kind)
select count(*), cause, queue, kind from scheduled group by queue, kind, cause;

-- When the next retry is due, whatever is scheduled before it; and the lists of one
-- kind or queue, whatever else there is.
create index scheduled_retry on scheduled (run_at, job_id) where cause = 2;
create index scheduled_kind on scheduled (kind, run_at, job_id);
create index failed_kind on failed (kind, failed_at, job_id);
create index failed_queue on failed (queue, failed_at, job_id);

-- +goose Down
drop index failed_queue, failed_kind, scheduled_kind, scheduled_retry;
drop trigger count_none on scheduled;
drop trigger count_changed on scheduled;
drop trigger count_gone on scheduled;
drop trigger count_added on scheduled;
drop function count_scheduled();
drop table scheduled_changes, scheduled_counts;
