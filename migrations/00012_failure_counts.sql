-- +goose Up

-- How many failed jobs stand in each group, so that no page counts them one by one.
-- A trigger writes each change of "failed" as rows of its own, whoever makes it,
-- programs of before this step included: they are only ever appended, so that two
-- transactions which fail jobs of one group do not wait for each other. A sweep adds
-- them up. What holds is the sum of failure_groups and failure_changes.
create table failure_groups (
    fingerprint bigint not null,
    n           bigint not null,
    exhausted   bigint not null,
    permanent   bigint not null,
    attempt1    bigint not null,
    attempt2    bigint not null,
    attempt3    bigint not null,
    kind        text collate "C" not null,
    primary key (kind, fingerprint)
) with (fillfactor = 50);

-- When the jobs of a group failed, by ten minutes, for as long as pages draw it.
create table failure_times (
    at          timestamptz not null,
    fingerprint bigint not null,
    n           bigint not null,
    kind        text collate "C" not null,
    primary key (kind, fingerprint, at)
) with (fillfactor = 50);
create index failure_times_old on failure_times (at);

create table failure_changes (
    at          timestamptz not null,
    fingerprint bigint not null,
    n           bigint not null,
    exhausted   bigint not null,
    permanent   bigint not null,
    attempt1    bigint not null,
    attempt2    bigint not null,
    attempt3    bigint not null,
    kind        text collate "C" not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);

-- Planned at each call, since the schema may have any name; a statement that fails
-- no job ends before that.
-- +goose StatementBegin
create function count_failures() returns trigger language plpgsql as $$
declare
    change constant text := 'insert into %I.failure_changes (kind, fingerprint, at, n, exhausted, permanent, attempt1, attempt2, attempt3)
        select kind, fingerprint, date_bin(''10 minutes'', failed_at, ''epoch''), %2$s * count(*),
               %2$s * count(*) filter (where outcome in (3, 5)), %2$s * count(*) filter (where outcome = 4),
               %2$s * count(*) filter (where attempt - snoozes <= 1), %2$s * count(*) filter (where attempt - snoozes = 2),
               %2$s * count(*) filter (where attempt - snoozes = 3)
        from %3$I group by 1, 2, 3';
begin
    if tg_op = 'TRUNCATE' then
        execute format('delete from %I.failure_changes', tg_table_schema);
        execute format('delete from %I.failure_times', tg_table_schema);
        execute format('delete from %I.failure_groups', tg_table_schema);
        return null;
    end if;
    if tg_op <> 'INSERT' then
        if exists (select from gone) then
            execute format(change, tg_table_schema, -1, 'gone');
        end if;
    end if;
    if tg_op <> 'DELETE' then
        if exists (select from added) then
            execute format(change, tg_table_schema, 1, 'added');
        end if;
    end if;
    return null;
end $$;
-- +goose StatementEnd

-- Their lock keeps writers away until what is there has been counted.
create trigger count_added after insert on failed referencing new table as added for each statement execute function count_failures();
create trigger count_gone after delete on failed referencing old table as gone for each statement execute function count_failures();
create trigger count_changed after update on failed referencing old table as gone new table as added for each statement execute function count_failures();
create trigger count_none after truncate on failed for each statement execute function count_failures();

insert into failure_groups (kind, fingerprint, n, exhausted, permanent, attempt1, attempt2, attempt3)
select kind, fingerprint, count(*), count(*) filter (where outcome in (3, 5)), count(*) filter (where outcome = 4),
       count(*) filter (where attempt - snoozes <= 1), count(*) filter (where attempt - snoozes = 2), count(*) filter (where attempt - snoozes = 3)
from failed group by kind, fingerprint;

insert into failure_times (kind, fingerprint, at, n)
select kind, fingerprint, date_bin('10 minutes', failed_at, 'epoch'), count(*)
from failed where failed_at > now() - interval '25 hours' group by 1, 2, 3;

-- +goose Down
drop trigger count_none on failed;
drop trigger count_changed on failed;
drop trigger count_gone on failed;
drop trigger count_added on failed;
drop function count_failures();
drop table failure_changes, failure_times, failure_groups;
