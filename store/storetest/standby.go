//go:build linux || darwin

package storetest

import (
	"context"
	"database/sql"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lib/pq"

	"github.com/tekrar/tekrar/store/pgtemp"
)

// NewStandby starts a streaming standby of a server that NewServer started; it is
// stopped when the test ends. Promote makes it a primary.
func NewStandby(t testing.TB, primary *pgtemp.Server) *pgtemp.Server {
	t.Helper()
	data, err := filepath.Glob(filepath.Join(primary.Dir(), "pg[0-9]*"))
	if err != nil || len(data) == 0 {
		t.Fatalf("no data folder in %s, %v", primary.Dir(), err)
	}
	dir, err := os.MkdirTemp("", "tekrar-standby-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	copied := filepath.Join(dir, filepath.Base(data[0]))
	out, err := exec.Command(primary.Binary("pg_basebackup"), "-D", copied, "-R", "-X", "stream", "-c", "fast", "-d", primary.DSN("")).CombinedOutput()
	if err != nil {
		t.Fatalf("pg_basebackup: %v: %s", err, out)
	}
	owner, err := os.Stat(data[0])
	if err != nil {
		t.Fatal(err)
	}
	of := owner.Sys().(*syscall.Stat_t)
	err = filepath.WalkDir(copied, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(of.Uid), int(of.Gid))
	})
	if err != nil {
		t.Fatal(err)
	}
	standby, err := pgtemp.Start(t.Context(), pgtemp.Config{Dir: dir, Logger: quiet(), Settings: map[string]string{"fsync": "off"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := standby.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return standby
}

// Synchronous makes commits on the primary wait for its standby.
func Synchronous(t testing.TB, primary *pgtemp.Server) {
	t.Helper()
	Admin(t, primary, `alter system set synchronous_standby_names = '*'`, `select pg_reload_conf()`)
	db := adminPool(t, primary)
	defer db.Close()
	for deadline := time.Now().Add(30 * time.Second); ; {
		var yes bool
		err := db.QueryRowContext(t.Context(), `select exists (select from pg_stat_replication where sync_state = 'sync')`).Scan(&yes)
		if yes {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no synchronous standby within 30 s: %v", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Promote ends the recovery of a standby and waits until it takes writes.
func Promote(t testing.TB, standby *pgtemp.Server) {
	t.Helper()
	Admin(t, standby, `select pg_promote()`)
}

// Admin runs statements on a server's maintenance database.
func Admin(t testing.TB, server *pgtemp.Server, statements ...string) {
	t.Helper()
	db := adminPool(t, server)
	defer db.Close()
	Exec(t, db, statements...)
}

func adminPool(t testing.TB, server *pgtemp.Server) *sql.DB {
	t.Helper()
	c, err := pq.NewConnector(server.DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	return sql.OpenDB(c)
}

// Hosts is the address of a database on whichever of the servers takes writes.
func Hosts(dbname string, servers ...*pgtemp.Server) string {
	var hosts, ports []string
	for _, s := range servers {
		hosts = append(hosts, parameter(s.DSN(""), "host"))
		ports = append(ports, parameter(s.DSN(""), "port"))
	}
	return "host='" + strings.Join(hosts, ",") + "' port=" + strings.Join(ports, ",") +
		" user=" + pgtemp.Superuser + " dbname=" + dbname + " sslmode=disable target_session_attrs=read-write"
}
