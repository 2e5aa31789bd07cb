//go:build linux || darwin

package pgtemp

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// temporaryPrefix marks throw-away folders, for sweep.
const temporaryPrefix = "tekrar-pg-"

// prepareDir creates the folder and makes it usable by the account that runs Postgres.
func (s *Server) prepareDir() error {
	parent := s.cfg.Dir
	if parent == "" {
		parent = os.TempDir()
	}
	parent, err := filepath.Abs(parent)
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	if s.as, err = serverAccount(parent); err != nil {
		return err
	}
	if s.cfg.Dir == "" && s.as.reaches(parent) != nil {
		parent = "/tmp" // root's TMPDIR may be closed to others
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return fmt.Errorf("data folder %s: %w", parent, plain(err))
	}
	s.dir = parent
	if s.cfg.Ephemeral {
		sweep(parent)
		if s.dir, err = os.MkdirTemp(parent, temporaryPrefix); err != nil {
			return fmt.Errorf("data folder in %s: %w", parent, plain(err))
		}
	}
	if s.as.foreign {
		if err := os.Chown(s.dir, s.as.uid, s.as.gid); err != nil {
			return fmt.Errorf("data folder: %w", err)
		}
	}
	if err := s.as.reaches(s.dir); err != nil {
		return fmt.Errorf("data folder: %w; choose another one, for instance %s", err, DefaultDir())
	}
	probe, err := os.CreateTemp(s.dir, ".probe-")
	if err != nil {
		return fmt.Errorf("data folder %s is not writable: %w", s.dir, plain(err))
	}
	probe.Close()
	return os.Remove(probe.Name())
}

// plain drops the path that the message around it already names.
func plain(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// socketDir makes the private folder of the socket: inside dir, or, where that
// would be longer than a socket's address may be, a short one in /tmp.
func socketDir(dir string, as account) (string, error) {
	sock := filepath.Join(dir, "run")
	// Postgres and lib/pq both read a comma as the start of another path.
	if len(sock)+len("/.s.PGSQL."+port) > maxSocketPath || strings.ContainsAny(sock, ",\"\n") {
		h := fnv.New64a()
		h.Write([]byte(dir))
		sock = fmt.Sprintf("/tmp/tekrar-%016x", h.Sum64())
	}
	err := os.Mkdir(sock, 0o700)
	if err == nil && as.foreign {
		err = os.Chown(sock, as.uid, as.gid)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("socket folder: %w", err)
	}
	// /tmp belongs to everybody: a folder planted there could hand out our clients.
	info, err := os.Lstat(sock)
	if err != nil {
		return "", fmt.Errorf("socket folder: %w", err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(st.Uid) != as.uid || info.Mode().Perm() != 0o700 {
		return "", fmt.Errorf("socket folder %s must be a folder of user %s with mode 0700: remove it", sock, as.name)
	}
	return sock, nil
}

// sweep removes throw-away folders whose owner was killed before it could.
func sweep(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, temporaryPrefix+"*"))
	for _, dir := range dirs {
		file, err := os.OpenFile(filepath.Join(dir, "owner.lock"), os.O_RDWR, 0)
		if err != nil {
			continue // just being made, or somebody else's
		}
		info, err := file.Stat()
		fresh := err != nil || time.Since(info.ModTime()) < time.Minute // made, but perhaps not locked yet
		if !fresh && syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil && !anyServer(dir) {
			os.RemoveAll(dir)
		}
		file.Close()
	}
}

// anyServer reports whether a server still runs on a data folder inside dir.
func anyServer(dir string) bool {
	files, _ := filepath.Glob(filepath.Join(dir, "pg*", "postmaster.pid"))
	for _, f := range files {
		if p, err := readPidFile(f); err == nil && p.runs() {
			return true
		}
	}
	return false
}
