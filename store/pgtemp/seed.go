//go:build linux || darwin

package pgtemp

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	seedPrefix    = "initdb-"  // fresh data in the cache, complete
	partialPrefix = "partial-" // what is being made in the cache
)

// create makes the data folder of a new server. Throw-away data is a copy of what
// initdb made once for the same binaries, account and arguments: initdb costs more
// than many a test that needs a server of its own, the copy a tenth of it.
func (s *Server) create(ctx context.Context, data string) error {
	if s.cfg.Ephemeral {
		if seed, err := s.seed(ctx); err == nil && s.plant(ctx, seed, data) == nil {
			return nil
		}
		// Without a cache it takes longer.
		if err := os.RemoveAll(data); err != nil {
			return fmt.Errorf("data folder: %w", plain(err))
		}
	}
	return s.initdb(ctx, data)
}

// seed is fresh data in the cache, made there if there is none yet.
func (s *Server) seed(ctx context.Context) (string, error) {
	name, err := s.seedName()
	if err != nil {
		return "", err
	}
	cache := s.cfg.cache
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	// Where a user has no cache folder it lies in one for temporary files, which is
	// everybody's.
	if !private(cache, os.Geteuid()) {
		return "", fmt.Errorf("%s belongs to another user", cache)
	}
	path := filepath.Join(cache, name)
	if _, err := os.Lstat(path); err == nil {
		if !hasData(path) || !private(path, s.as.uid) {
			return "", fmt.Errorf("%s is no data of user %s", path, s.as.name)
		}
		return path, nil
	}
	sweepCache(cache)
	work, err := os.MkdirTemp(cache, partialPrefix)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	if s.as.foreign {
		if err := os.Chown(work, s.as.uid, s.as.gid); err != nil {
			return "", err
		}
	}
	if err := s.as.reaches(work); err != nil {
		return "", err
	}
	made := filepath.Join(work, "data")
	if err := s.initdb(ctx, made); err != nil {
		return "", err
	}
	if err := os.Rename(made, path); err != nil && !hasData(path) { // another process may have been faster
		return "", err
	}
	return path, nil
}

// private reports that path is a folder, no link to one, into which only the user writes.
func private(path string, uid int) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o022 != 0 {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == uid
}

// sweepCache removes what killed processes left half made, and data that is so old that
// its binaries have probably been replaced; if not, it is made anew.
func sweepCache(cache string) {
	for prefix, age := range map[string]time.Duration{partialPrefix: 24 * time.Hour, seedPrefix: 90 * 24 * time.Hour} {
		found, _ := filepath.Glob(filepath.Join(cache, prefix+"*"))
		for _, path := range found {
			if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > age {
				os.RemoveAll(path)
			}
		}
	}
}

// seedName changes with all that makes initdb write something else.
func (s *Server) seedName() (string, error) {
	program, err := os.Stat(s.bin.path("initdb"))
	if err != nil {
		return "", err
	}
	h := fnv.New64a()
	fmt.Fprintln(h, s.bin.dir, program.ModTime().UnixNano(), program.Size(), s.as.uid, s.as.gid, initdbArguments)
	return fmt.Sprintf("%s%d-%016x", seedPrefix, s.bin.major, h.Sum64()), nil
}

// plant copies the seed to where a server expects its data. The account does it, not
// root: both folders are the account's, who could put a link into the way.
func (s *Server) plant(ctx context.Context, seed, data string) error {
	cmd := exec.CommandContext(ctx, "cp", "-Rp", seed, data)
	cmd.Dir, cmd.Env = s.dir, cleanEnv()
	if out, err := s.asAccount(cmd); err != nil {
		return fmt.Errorf("copy %s: %w: %s", seed, err, strings.TrimSpace(string(out)))
	}
	return nil
}
