//go:build linux || darwin

package pgtemp

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestDataAndAddressStayOverRestarts(t *testing.T) {
	t.Parallel()
	dir := seeded(t)
	s := start(t, Config{Dir: dir})
	if s.Shared() || s.Dir() != dir {
		t.Fatalf("shared %v, dir %s", s.Shared(), s.Dir())
	}
	if err := s.CreateDatabase(t.Context(), "kept"); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateDatabase(t.Context(), "kept"); err != nil {
		t.Fatalf("again: %v", err)
	}
	done := s.Done()
	stop(t, s)
	<-done
	stop(t, s) // twice does no harm
	again := start(t, Config{Dir: dir})
	if again.DSN("x") != s.DSN("x") {
		t.Errorf("%s became %s", s.DSN("x"), again.DSN("x"))
	}
	if n := query(t, again, `select count(*) from pg_database where datname = 'kept'`); n != "1" {
		t.Fatal("the data is gone")
	}
	if err := again.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	query(t, again, `select 1`)
}

func TestServerListensOnAPrivateSocketOnly(t *testing.T) {
	t.Parallel()
	s := start(t, Config{Dir: seeded(t)})
	if got := query(t, s, `select current_setting('listen_addresses') || current_user || current_setting('max_connections')`); got != "tekrar10" {
		t.Fatal(got)
	}
	info, err := os.Stat(s.socket)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("%v, %v", info.Mode(), err)
	}
	// Ctrl-C at the terminal goes to the whole group: the server must not be in ours.
	if group, err := syscall.Getpgid(pid(t, s)); err != nil || group == syscall.Getpgrp() {
		t.Fatalf("group %d, %v", group, err)
	}
}

func TestThrowAwayServerLeavesNothing(t *testing.T) {
	t.Parallel()
	parent := folder(t)
	s := start(t, Config{Dir: parent, Ephemeral: true})
	if filepath.Dir(s.Dir()) != parent || query(t, s, `show fsync`) != "off" {
		t.Fatalf("folder %s", s.Dir())
	}
	stop(t, s)
	if left, _ := filepath.Glob(parent + "/*"); len(left) > 0 {
		t.Fatalf("left: %v", left)
	}
	if !(Config{}).withDefaults().Ephemeral {
		t.Error("without a folder the data has no place to stay")
	}
}

func TestCrashLosesNoCommit(t *testing.T) {
	t.Parallel()
	s := start(t, Config{Dir: seeded(t)})
	for _, name := range []string{"a", "b"} {
		if err := s.CreateDatabase(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Crash(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := query(t, s, `select count(*) from pg_database where datname in ('a', 'b')`); n != "2" {
		t.Fatalf("%s of 2 databases", n)
	}
}

func TestStartsAtOnceMakeOneServer(t *testing.T) {
	t.Parallel()
	dir := seeded(t)
	servers := make([]*Server, 4)
	var all sync.WaitGroup
	for i := range servers {
		all.Go(func() {
			var err error
			if servers[i], err = Start(t.Context(), Config{Dir: dir, Settings: quick}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	owners := 0
	for _, s := range servers {
		if pid(t, s) != pid(t, servers[0]) {
			t.Error("a second server")
		}
		if !s.Shared() {
			owners++
			defer s.Stop(context.Background())
		}
	}
	if owners != 1 {
		t.Fatalf("%d owners", owners)
	}
}

func TestStopGetsRougherWhenItsContextEnds(t *testing.T) {
	t.Parallel()
	s := start(t, Config{Dir: seeded(t)})
	p := pid(t, s)
	if err := syscall.Kill(p, syscall.SIGSTOP); err != nil { // answers no signal but SIGKILL
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	began := time.Now()
	if err := s.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Fatalf("took %s", took)
	}
	within(t, 10*time.Second, "the server is gone", func() bool { return !alive(p) })
}

func TestStartSaysWhyItCannot(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), Config{Dir: filepath.Join(file, "x")}); err == nil || !strings.Contains(err.Error(), "data folder") {
		t.Errorf("below a file: %v", err)
	}
	_, err := Start(t.Context(), Config{Dir: seeded(t), Settings: map[string]string{"no_such_setting": "1"}})
	if err == nil || !strings.Contains(err.Error(), "no_such_setting") {
		t.Errorf("a bad setting must show the server's own words: %v", err)
	}
	_, err = Start(t.Context(), Config{Dir: folder(t), StartTimeout: time.Nanosecond})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no time: %v", err)
	}
}

func TestHalfADataFolderIsMadeAnew(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	for major := oldest; major < 30; major++ { // whichever is installed
		if err := os.MkdirAll(dataDir(dir, major)+".partial/base", 0o700); err != nil {
			t.Fatal(err)
		}
	}
	query(t, start(t, Config{Dir: dir}), `select 1`)
}

func TestALongPathGetsAShortSocket(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(folder(t), strings.Repeat("long", 25), "o'neil, and sons")
	s := start(t, Config{Dir: dir})
	if !strings.HasPrefix(s.socket, "/tmp/tekrar-") {
		t.Fatal(s.socket)
	}
	t.Cleanup(func() { os.RemoveAll(s.socket) })
	query(t, s, `select 1`)
}
