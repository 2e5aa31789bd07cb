//go:build linux || darwin

package storetest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Pooled starts PgBouncer in transaction mode in front of the private server and
// returns the address of dsn's database through it, as its users have to write it.
// Without the program the test is skipped, or fails when CI is true.
func Pooled(t testing.TB, dsn string) string {
	t.Helper()
	path, err := exec.LookPath("pgbouncer")
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/pgbouncer")
	}
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("no pgbouncer, and CI=true")
		}
		t.Skip("no pgbouncer: the pooler test is left out")
	}
	server := Server(t)
	if server == nil {
		t.Skip("needs a private server; TEKRAR_TEST_DATABASE_URL is set")
	}
	socket := parameter(server.DSN(""), "host")
	dir, err := os.MkdirTemp("", "pgb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	port := freePort(t)
	config := filepath.Join(dir, "pgbouncer.ini")
	// Few sessions for many clients: they change hands all the time.
	text := fmt.Sprintf("[databases]\n* = host=%s port=5432 user=tekrar\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\n"+
		"unix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 4\nmax_client_conn = 500\n"+
		"server_reset_query =\nignore_startup_parameters = extra_float_digits\n", socket, port)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, config)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: pooler(t, socket)}
	log := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	address := fmt.Sprintf("127.0.0.1:%d", port)
	for deadline := time.Now().Add(30 * time.Second); ; {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			c.Close()
			break
		}
		select {
		case <-ended:
			t.Fatalf("pgbouncer ended: %s", log)
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("pgbouncer does not answer: %v", err)
		}
	}
	return fmt.Sprintf("postgres://tekrar@%s/%s?sslmode=disable&binary_parameters=yes", address, parameter(dsn, "dbname"))
}

// pooler is who runs it: root may not, and the server's socket is open to its owner only.
func pooler(t testing.TB, socket string) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(socket)
	if err != nil {
		t.Fatal(err)
	}
	owner := info.Sys().(*syscall.Stat_t)
	if u, err := user.LookupId(strconv.Itoa(int(owner.Uid))); err == nil && owner.Uid != 0 {
		gid, _ := strconv.Atoi(u.Gid)
		return &syscall.Credential{Uid: owner.Uid, Gid: uint32(gid)}
	}
	t.Fatalf("%s belongs to nobody who could run pgbouncer", socket)
	return nil
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
