package store_test

import (
	"database/sql"
	"fmt"
	"io/fs"
	"testing"

	"github.com/pressly/goose/v3"

	"github.com/tekrar/tekrar/migrations"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// loadStates writes n jobs in every state with columns that each version has: a
// seventh of them in each of the six states and, last, failed and then requeued.
func loadStates(t *testing.T, pool *sql.DB, n int) {
	t.Helper()
	history := func(state, attempt int, of string) string {
		return fmt.Sprintf(`insert into history (job_id, attempt, state, queue, kind, server, actor)
			select id, %[1]d, %[2]d, queue, kind, case when %[2]d = 3 then 1 end, case when %[2]d = 2 and %[1]d > 0 then 'ann' end from jobs where %[3]s order by id`, attempt, state, of)
	}
	hot := func(table, columns, values, of string) string {
		return fmt.Sprintf(`insert into %s (job_id, queue, kind, attempt%s) select id, queue, kind, %s from jobs where %s`, table, columns, values, of)
	}
	for _, text := range []string{
		fmt.Sprintf(`insert into jobs (queue, kind, args, policy) select 'q' || g %% 3, 'k' || g %% 5,
			jsonb_build_object('n', g, 'text', 'ünlü ' || g), case when g %% 11 = 0 then '{"max_retries": 3}'::jsonb end from generate_series(1, %d) g`, n),
		history(1, 0, "id % 7 = 0"), hot("scheduled", ", run_at", "0, clock_timestamp() + interval '1 day'", "id % 7 = 0"),
		history(2, 0, "id % 7 > 0"), hot("ready", "", "0", "id % 7 = 1"),
		history(3, 1, "id % 7 > 1"), hot("running", ", server", "1, 1", "id % 7 = 2"),
		history(4, 1, "id % 7 = 3"), history(6, 1, "id % 7 = 4"),
		history(5, 1, "id % 7 > 4"), hot("failed", ", error_type, error_line", "1, 'E', 'boom'", "id % 7 = 5"),
		history(2, 1, "id % 7 = 6"), hot("ready", "", "1", "id % 7 = 6"),
		`insert into stats (minute, server, n, run_us, wait_us, outcome, attempt, bucket, queue, kind)
			select date_trunc('minute', now()), 1, count(*), 0, 0, case h.state when 4 then 1 when 5 then 4 else 9 end, 1, 0, h.queue, h.kind
			from history h where h.state in (4, 5) group by h.state, h.queue, h.kind`,
	} {
		storetest.Exec(t, pool, text)
	}
}

// standing sums up what a person would miss: counts by hot table, every job's args,
// and the state, attempt and number of rows of its history.
func standing(t *testing.T, pool *sql.DB) (s string) {
	t.Helper()
	err := pool.QueryRow(`select concat_ws(' ', (select count(*) from ready), (select count(*) from running), (select count(*) from scheduled),
		(select count(*) from failed), (select sum(n) from stats),
		(select md5(string_agg(id || args::text || coalesce(policy::text, ''), ',' order by id)) from jobs),
		(select string_agg(state || ':' || n, ',' order by state) from (select state, count(*) as n from job group by state) x),
		(select md5(string_agg(job_id || '/' || state || '/' || attempt || coalesce(actor, ''), ',' order by id)) from history))`).Scan(&s)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// migratedTo makes the schema of an older version, by hand.
func migratedTo(t *testing.T, db *store.DB, version int64) (*sql.DB, *goose.Provider) {
	t.Helper()
	pool, err := store.MigrationPool(db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	storetest.Exec(t, pool, `create schema tekrar`)
	p, err := goose.NewProvider(goose.DialectPostgres, pool, migrations.FS, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	return pool, p
}

// DBX-13: a fifth of its size: at each older version there are jobs in every state, 20,000 at the
// one before the newest: up, down, up keep all of it, and a last up does nothing.
func TestMigrationsKeepJobsInAllStates_DBX13(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	newest := int64(len(files))
	for old := int64(1); old < newest; old++ {
		t.Run(fmt.Sprintf("from version %d", old), func(t *testing.T) {
			t.Parallel()
			db := storetest.Open(t, storetest.EmptyDSN(t), store.Options{})
			n := 700
			if old == newest-1 {
				n = 20_000
			}
			pool, p := migratedTo(t, db, old)
			loadStates(t, pool, n)
			want := standing(t, pool)
			up := func() { // as users do
				t.Helper()
				if err := db.Migrate(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			down := func() {
				t.Helper()
				if _, err := p.DownTo(t.Context(), old); err != nil {
					t.Fatal(err)
				}
			}
			for i, step := range []func(){up, down, up, up} {
				step()
				if got := standing(t, pool); got != want {
					t.Fatalf("after step %d of up, down, up, up:\n%s, want\n%s", i+1, got, want)
				}
			}
			if done, err := p.Up(t.Context()); err != nil || len(done) != 0 {
				t.Errorf("a last up did %v, %v", done, err)
			}
			if n == 700 { // of the large one it takes as long as all the rest
				if err := db.Check(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
