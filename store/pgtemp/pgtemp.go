// Package pgtemp runs a private Postgres server for the demo and for tests: it
// finds or fetches the binaries, keeps the data in a folder, listens on a unix
// socket only and ends with the process that started it. Linux and macOS; on
// other systems Start says that DATABASE_URL is needed.
package pgtemp

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Superuser is the role that owns a private server. It needs no password: the
// socket's folder can be entered by its owner only.
const Superuser = "tekrar"

const port = "5432"

// Config says where a private server keeps its data and how it behaves.
type Config struct {
	// Dir holds the data (one folder a major version), the socket, the log and
	// the locks. "" means a throw-away folder for temporary files, removed by Stop.
	Dir string
	// Ephemeral makes a throw-away server: fsync off, and its data, in a new
	// folder inside Dir, is removed by Stop. An empty Dir implies it. Its data is a copy
	// of one that is kept in the user's cache folder (40 MB), or /var/cache/tekrar.
	Ephemeral bool
	// Logger gets one line on start and stop. Default slog.Default().
	Logger *slog.Logger
	// Settings are put on the server's command line, name to value; they win
	// over what pgtemp sets. A server that is shared keeps what it runs with.
	Settings map[string]string
	// StartTimeout bounds initdb, start and crash recovery together. Default 2 min.
	StartTimeout time.Duration

	cache string // holds what throw-away data is copied from
}

func (c Config) withDefaults() Config {
	if c.Dir == "" {
		c.Ephemeral = true
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.StartTimeout == 0 {
		c.StartTimeout = 2 * time.Minute
	}
	if c.cache == "" {
		c.cache = cacheDir()
	}
	return c
}

// DSN is the address of a database of this server, for lib/pq. "" means the
// database "postgres", which always exists. It stays the same over restarts.
func (s *Server) DSN(dbname string) string {
	if dbname == "" {
		dbname = "postgres"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q := strings.NewReplacer(`\`, `\\`, `'`, `\'`)
	return "host='" + q.Replace(s.socket) + "' port=" + port + " user=" + Superuser +
		" dbname='" + q.Replace(dbname) + "' sslmode=disable"
}

// Dir is the folder that holds the server's data, log and locks.
func (s *Server) Dir() string { return s.dir }

// Shared reports that another process started the server. Stop then leaves it
// running, and it goes away when that process ends: see Done.
func (s *Server) Shared() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shared
}

// Done is closed when the server has ended: by Stop, by a crash, or, when it is
// shared, together with the process that owns it. Start brings it back then.
func (s *Server) Done() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done
}

// DefaultDir is the data folder of the demo: $XDG_DATA_HOME/tekrar, else
// ~/.local/share/tekrar. As root it is /var/lib/tekrar, because Postgres
// refuses to run as root and another user cannot reach root's home.
func DefaultDir() string {
	if os.Geteuid() == 0 {
		return "/var/lib/tekrar"
	}
	if d := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "tekrar")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return filepath.Join(os.TempDir(), "tekrar")
	}
	return filepath.Join(home, ".local", "share", "tekrar")
}
