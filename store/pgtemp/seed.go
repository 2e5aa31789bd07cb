//go:build linux || darwin

package pgtemp

import (
	"context"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// seedPrefix marks fresh data in the cache.
const seedPrefix = "initdb-"

// create makes the data folder of a new server. Throw-away data is a copy of what
// initdb made once for the same binaries, account and arguments: initdb costs more
// than many a test that needs a server of its own, the copy a tenth of it.
func (s *Server) create(ctx context.Context, data string) error {
	if s.cfg.Ephemeral {
		if seed, err := s.seed(ctx); err == nil && s.plant(seed, data) == nil {
			return nil
		}
		// Whatever is wrong with the cache, initdb itself does not need it.
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
	path := filepath.Join(s.cfg.cache, name)
	if s.isSeed(path) {
		return path, nil
	}
	if err := os.MkdirAll(s.cfg.cache, 0o755); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(s.cfg.cache, "partial-")
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
	if err := os.Rename(made, path); err != nil && !s.isSeed(path) { // another process may have been faster
		return "", err
	}
	return path, nil
}

// isSeed reports that the data is there and that nobody else put it there: where a
// user has no cache folder it lies in one for temporary files, which is everybody's.
func (s *Server) isSeed(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() || !hasData(path) {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == s.as.uid
}

// seedName changes with all that makes initdb write something else.
func (s *Server) seedName() (string, error) {
	program, err := os.Stat(s.bin.path("initdb"))
	if err != nil {
		return "", err
	}
	h := fnv.New64a()
	fmt.Fprintln(h, s.bin.dir, program.ModTime().UnixNano(), program.Size(), s.as.uid, s.as.gid, s.initdbArguments())
	return fmt.Sprintf("%s%d-%016x", seedPrefix, s.bin.major, h.Sum64()), nil
}

// plant copies the seed to where a server expects its data.
func (s *Server) plant(seed, data string) error {
	if err := os.CopyFS(data, os.DirFS(seed)); err != nil {
		return err
	}
	if err := os.Chmod(data, 0o700); err != nil { // Postgres insists
		return err
	}
	if !s.as.foreign {
		return nil
	}
	return filepath.WalkDir(data, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, s.as.uid, s.as.gid)
	})
}
