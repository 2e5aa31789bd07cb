package storetest_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lib/pq"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// seen is what a session shows of itself: its process, and all that a former user of
// it could have left.
type seen struct {
	PID   int
	Base  string
	Name  string
	Left  int
	Limit string
}

const seenQuery = `select pg_backend_pid() as pid, current_database() as base, current_setting('application_name') as name, current_setting('work_mem') as "limit",
(select count(*) from pg_prepared_statements where name = 'p') + (select count(*) from pg_listening_channels())
+ (select count(*) from pg_class where relname = 'mine') + (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as left`

// used leaves what leave does in a session of its own and closes it.
func used(t *testing.T, dsn string, leave func(context.Context, *sql.Conn)) (was seen) {
	t.Helper()
	db := storetest.Open(t, dsn, store.Options{})
	conn, err := db.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.GetContext(t.Context(), &was, seenQuery); err != nil {
		t.Fatal(err)
	}
	leave(t.Context(), conn.Conn)
	if err := errors.Join(conn.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	return was
}

func run(t *testing.T, statements ...string) func(context.Context, *sql.Conn) {
	return func(ctx context.Context, c *sql.Conn) {
		t.Helper()
		for _, text := range statements {
			if _, err := c.ExecContext(ctx, text); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A closed connection serves again, and nothing tells it from a new one.
func TestAReusedConnectionIsAsNew(t *testing.T) {
	t.Parallel()
	if storetest.Server(t) == nil {
		t.Skip("nothing is kept on a server that stays")
	}
	for name, leave := range map[string]func(context.Context, *sql.Conn){
		"settings":    run(t, `set work_mem = '77kB'`, `set application_name = 'x'`),
		"things":      run(t, `prepare p as select 1`, `listen c`, `create temporary table mine ()`, `select pg_advisory_lock(7)`),
		"transaction": run(t, `begin`, `set local work_mem = '77kB'`, `select pg_advisory_xact_lock(8)`),
		"cancelled": func(ctx context.Context, c *sql.Conn) {
			ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
			defer cancel()
			var e *pq.Error
			if _, err := c.ExecContext(ctx, `select pg_sleep(30)`); !errors.Is(err, context.DeadlineExceeded) && !(errors.As(err, &e) && e.Code == "57014") {
				t.Errorf("not cancelled: %v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := storetest.DSN(t)
			first := used(t, dsn, leave)
			if storetest.Connections(t, first.Base) != 0 {
				t.Error("a closed connection counts")
			}
			if again := used(t, dsn, run(t)); again != first {
				t.Errorf("%+v became %+v", first, again)
			}
		})
	}
}

// A setting of the database counts for new connections only; a process may end while
// nobody uses it.
func TestANewConnectionWhereAnOldOneWouldDiffer(t *testing.T) {
	t.Parallel()
	server := storetest.Server(t)
	if server == nil {
		t.Skip("nothing is kept on a server that stays")
	}
	for name, change := range map[string]func(seen) (statement, limit string){
		"database altered": func(s seen) (string, string) {
			return fmt.Sprintf(`alter database %s set work_mem = '77kB'`, s.Base), "77kB"
		},
		"process ended": func(s seen) (string, string) {
			return fmt.Sprintf(`select pg_terminate_backend(%d, 10000)`, s.PID), s.Limit
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := storetest.DSN(t)
			first := used(t, dsn, run(t))
			statement, limit := change(first)
			storetest.Admin(t, server, statement)
			if again := used(t, dsn, run(t)); again.PID == first.PID || again.Limit != limit {
				t.Errorf("%+v became %+v, want another process and %s", first, again, limit)
			}
		})
	}
}
