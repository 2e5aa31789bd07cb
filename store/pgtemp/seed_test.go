//go:build linux || darwin

package pgtemp

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Servers that start at once each make their data, or copy what another made; what
// one does to its data is not in the next one's.
func TestThrowAwayDataIsMadeOnceAndCopied(t *testing.T) {
	t.Parallel()
	cache := folder(t)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			s := start(t, Config{cache: cache})
			if err := s.CreateDatabase(t.Context(), "mine"); err != nil {
				t.Error(err)
			}
			stop(t, s)
		})
	}
	all.Wait()
	seeds, err := filepath.Glob(filepath.Join(cache, "*"))
	if err != nil || len(seeds) != 1 {
		t.Fatalf("the cache holds %v, %v", seeds, err)
	}
	if err := os.WriteFile(filepath.Join(seeds[0], "mark"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s := start(t, Config{cache: cache})
	if _, err := os.Stat(filepath.Join(dataDir(s.dir, s.bin.major), "mark")); err != nil {
		t.Errorf("not copied: %v", err)
	}
	if n := query(t, s, `select count(*) from pg_database where datname = 'mine'`); n != "0" {
		t.Error("a database of another server")
	}
}

// A cache that cannot be used costs time, no server.
func TestACacheOfNoUse(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	query(t, start(t, Config{cache: file}), `select 1`)
}

func TestASeedOfAnotherUserIsNotUsed(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	t.Parallel()
	s := start(t, Config{cache: folder(t)})
	name, err := s.seedName()
	if err != nil {
		t.Fatal(err)
	}
	cache := folder(t)
	planted := filepath.Join(cache, name)
	if err := os.MkdirAll(planted, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"PG_VERSION", "mark"} {
		if err := os.WriteFile(filepath.Join(planted, file), []byte("15\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	second := start(t, Config{cache: cache})
	if _, err := os.Stat(filepath.Join(dataDir(second.dir, second.bin.major), "mark")); !os.IsNotExist(err) {
		t.Errorf("it was used: %v", err)
	}
	query(t, second, `select 1`)
}
