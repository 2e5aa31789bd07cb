package storetest

import (
	"context"
	"database/sql"
	"sync"
	"testing"
	"time"

	"github.com/lib/pq"
)

// spares are the databases whose tests have ended: emptying one costs a tenth of
// copying a new one (truncate costs as much as the copy).
var spares = spareList{out: map[string]bool{}}

type spareList struct {
	mu   sync.Mutex
	free []string        // addresses; the one that came last is taken first
	out  map[string]bool // addresses that tests have
}

// take returns the address of an empty database. A spare one that was left in another
// shape than the template's, or connected to, is left alone.
func (s *spareList) take(t testing.TB) string {
	t.Helper()
	dsn := s.pop()
	for dsn != "" {
		if ok, err := emptied(t.Context(), dsn); err == nil && ok {
			break
		}
		lot.clear(parameter(dsn, "dbname"))
		dsn = s.pop()
	}
	if dsn == "" {
		dsn = create(t, shared.copy)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out[dsn] = true
	return dsn
}

func (s *spareList) pop() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.free) == 0 {
		return ""
	}
	last := len(s.free) - 1
	dsn := s.free[last]
	s.free = s.free[:last]
	return dsn
}

func (s *spareList) giveBack(dsn string, good bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.out, dsn)
	if good {
		s.free = append(s.free, dsn)
	} else {
		lot.clear(parameter(dsn, "dbname"))
	}
}

// lent reports that a test has the database.
func (s *spareList) lent(dsn string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out[dsn]
}

// shapeQuery tells what a test can change in a database beside rows: relations,
// columns and their defaults, constraints, triggers, functions, settings.
const shapeQuery = `select md5(string_agg(x, chr(10) order by x)) from (
select format('relation %s.%s %s %s', n.nspname, c.relname, c.relkind, c.reloptions) as x
from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname !~ '^(pg_|information_schema)'
union all select format('column %s.%s %s %s %s', a.attrelid::regclass, a.attname, a.atttypid, a.attnotnull, pg_get_expr(d.adbin, d.adrelid))
from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
where n.nspname !~ '^(pg_|information_schema)' and a.attnum > 0
union all select format('constraint %s %s', conname, pg_get_constraintdef(oid)) from pg_constraint where conrelid <> 0
union all select format('trigger %s %s', tgrelid::regclass, pg_get_triggerdef(oid)) from pg_trigger
union all select format('function %s', p.oid::regprocedure) from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname !~ '^(pg_|information_schema)'
union all select format('schema %s', nspname) from pg_namespace where nspname !~ '^pg_(toast_)?temp_'
union all select format('setting %s', s.setconfig) from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase where d.datname = current_database()
union all select format('version %s', max(version_id)) from tekrar.goose_db_version) s`

const strangersQuery = `select count(*) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
and application_name <> '` + parkedName + `'`

// Tables with a trigger go first: what it writes then has to go after them.
const emptyStatement = `do $$ declare name text; begin
for name in select tablename from pg_tables where schemaname = 'tekrar' and tablename <> 'goose_db_version' order by hastriggers desc loop
	execute format('delete from tekrar.%I', name);
end loop;
perform setval(c.oid::regclass, 1, false) from pg_class c
where c.relkind = 'S' and c.relnamespace = 'tekrar'::regnamespace and c.relname !~ 'goose';
end $$`

// emptied removes what a test left, if it left nothing but rows.
func emptied(ctx context.Context, dsn string) (bool, error) {
	c, err := pq.NewConnector(dsn)
	if err != nil {
		return false, err
	}
	c.Dialer(reusing{})
	pool := sql.OpenDB(c)
	defer pool.Close()
	if left, err := deserted(ctx, pool); err != nil || !left {
		return false, err
	}
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, `set local jit = off`); err != nil { // it takes as long as the rest
		return false, err
	}
	var shape string
	if err := tx.QueryRowContext(ctx, shapeQuery).Scan(&shape); err != nil || shape != shared.shape {
		return false, err
	}
	if _, err := tx.ExecContext(ctx, emptyStatement); err != nil {
		return false, err
	}
	return true, tx.Commit()
}

// deserted reports that nobody else is connected. A backend that has been told to end
// is there for a moment more.
func deserted(ctx context.Context, pool *sql.DB) (bool, error) {
	for end := time.Now().Add(500 * time.Millisecond); ; time.Sleep(10 * time.Millisecond) {
		var strangers int
		err := pool.QueryRowContext(ctx, strangersQuery).Scan(&strangers)
		if err != nil || strangers == 0 || time.Now().After(end) {
			return err == nil && strangers == 0, err
		}
	}
}
