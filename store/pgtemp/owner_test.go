//go:build linux || darwin

package pgtemp

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestKilledOwnerDoesNotBlockTheNextStart_LIF12(t *testing.T) {
	t.Parallel()
	dir := seeded(t)
	cmd, _ := owner(t, dir)
	p, err := filepath.Glob(filepath.Join(dir, "pg*", "postmaster.pid"))
	if err != nil || len(p) != 1 {
		t.Fatal(p, err)
	}
	old, err := readPidFile(p[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s := start(t, Config{Dir: dir}) // at once: the old server may still be shutting down
	if s.Shared() {
		t.Fatal("shares a server without an owner")
	}
	if pid(t, s) == old.pid || alive(old.pid) {
		t.Fatal("the old server is still there")
	}
	query(t, s, `select 1`)
}

func TestServerEndsWithItsKilledOwner_LIF12(t *testing.T) {
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip("this system has no signal at a parent's death")
	}
	t.Parallel()
	dir := seeded(t)
	cmd, _ := owner(t, dir)
	s := start(t, Config{Dir: dir})
	if !s.Shared() {
		t.Fatal("not shared")
	}
	p := pid(t, s)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the server outlived its owner")
	}
	if alive(p) {
		t.Fatal("Done was closed too early")
	}
}

func TestASecondProcessSharesAndLeavesTheServerAlone(t *testing.T) {
	t.Parallel()
	dir := seeded(t)
	_, end := owner(t, dir)
	s := start(t, Config{Dir: dir})
	if !s.Shared() {
		t.Fatal("not shared")
	}
	query(t, s, `select 1`)
	stop(t, s)
	query(t, s, `select 1`)
	end()
	select {
	case <-s.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("its owner's end was not told")
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.Shared() {
		t.Fatal("nobody else owns it now")
	}
	query(t, s, `select 1`)
}

// stale writes the files of a server that is gone, naming the process n.
func stale(t *testing.T, s *Server, n int) {
	t.Helper()
	data := dataDir(s.dir, s.bin.major)
	text := strconv.Itoa(n) + "\n" + data + "\n1700000000\n5432\n" + s.socket + "\n\n  1234567    123456\nready   \n"
	for _, f := range []string{filepath.Join(data, "postmaster.pid"), filepath.Join(s.socket, ".s.PGSQL.5432.lock")} {
		if err := os.WriteFile(f, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(f, s.as.uid, s.as.gid); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStalePidFilesDoNotBlock_LIF12(t *testing.T) {
	t.Parallel()
	dir := seeded(t)
	s := start(t, Config{Dir: dir})
	data := dataDir(dir, s.bin.major)
	stop(t, s)

	// Runs as the account of the server, since Postgres asks only about those.
	stranger := exec.Command("sleep", "600")
	stranger.SysProcAttr = &syscall.SysProcAttr{Credential: s.as.credential()}
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stranger.Process.Kill(); stranger.Wait() })
	dead := exec.Command("true")
	dead.SysProcAttr = &syscall.SysProcAttr{Credential: s.as.credential()}
	if err := dead.Start(); err != nil {
		t.Fatal(err)
	}
	within(t, 10*time.Second, "a zombie", func() bool { return zombie(dead.Process.Pid) })
	t.Cleanup(func() { dead.Wait() })

	for name, n := range map[string]int{"stranger": stranger.Process.Pid, "zombie": dead.Process.Pid, "gone": deadPid, "us": os.Getpid()} {
		stale(t, s, n)
		again, err := Start(t.Context(), Config{Dir: dir, Settings: quick})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		query(t, again, `select 1`)
		stop(t, again)
	}
	if !alive(stranger.Process.Pid) {
		t.Fatal("the stranger was killed")
	}
	if err := os.WriteFile(filepath.Join(data, "postmaster.pid"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	query(t, start(t, Config{Dir: dir}), `select 1`)
}

func TestAServerOfSomebodyElseIsNotStopped(t *testing.T) {
	t.Parallel()
	s := start(t, Config{Dir: seeded(t)})
	stop(t, s)
	data := dataDir(s.dir, s.bin.major)
	cmd := exec.Command(s.bin.path("postgres"), "-D", data, "-c", "listen_addresses=", "-k", s.socket)
	// Not s.attributes: it would end with the thread that starts it, whenever Go ends that.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: s.as.credential()}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Signal(syscall.SIGINT); cmd.Wait() })
	if err := s.ready(t.Context(), func() bool { return false }); err != nil {
		t.Fatal(err)
	}
	_, err := Start(t.Context(), Config{Dir: s.dir})
	if err == nil || !strings.Contains(err.Error(), "that Tekrar did not start") || !strings.Contains(err.Error(), strconv.Itoa(cmd.Process.Pid)) {
		t.Fatalf("err = %v", err)
	}
	query(t, s, `select 1`)
}

func TestSweepRemovesWhatKilledTestsLeft(t *testing.T) {
	t.Parallel()
	parent := folder(t)
	left := filepath.Join(parent, temporaryPrefix+"1")
	if err := os.MkdirAll(left, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left, "owner.lock"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	one := start(t, Config{Dir: parent, Ephemeral: true})
	if err := one.Halt(t.Context()); err != nil { // as a test does between two starts
		t.Fatal(err)
	}
	aged := time.Now().Add(-time.Hour)
	for _, dir := range []string{left, one.Dir()} {
		if err := os.Chtimes(filepath.Join(dir, "owner.lock"), aged, aged); err != nil {
			t.Fatal(err)
		}
	}
	start(t, Config{Dir: parent, Ephemeral: true})
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("%s is still there", left)
	}
	if err := one.Restart(t.Context()); err != nil {
		t.Fatalf("a halted server lost its folder: %v", err)
	}
}
