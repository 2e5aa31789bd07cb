//go:build linux || darwin

package pgtemp

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/lib/pq"
)

// ownerDir turns the test binary into a program that owns a server.
const ownerDir = "TEKRAR_PGTEMP_TEST_OWNER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(ownerDir); dir != "" {
		s, err := Start(context.Background(), Config{Dir: dir, Settings: quick})
		if err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		fmt.Println("ready")
		io.Copy(io.Discard, os.Stdin) // until the test closes it
		if err := s.Stop(context.Background()); err != nil {
			fmt.Println("error:", err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// seeded is a folder that has data, as a former server left it.
func seeded(t *testing.T) string {
	t.Helper()
	s := &Server{cfg: Config{Dir: folder(t)}.withDefaults()}
	if err := s.prepareDir(); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.bin, err = defaultFinder().find(t.Context(), s.dir); err != nil {
		t.Fatal(err)
	}
	seed, err := s.seed(t.Context())
	if err == nil {
		err = s.plant(t.Context(), seed, dataDir(s.dir, s.bin.major))
	}
	if err != nil {
		t.Fatal(err)
	}
	return s.dir
}

// quick makes servers with kept data as fast as throw-away ones.
var quick = map[string]string{"fsync": "off", "max_connections": "10", "shared_buffers": "16MB"}

// folder is an empty folder that user postgres can reach, which t.TempDir is not for root.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pgt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "data")
}

func start(t *testing.T, cfg Config) *Server {
	t.Helper()
	if cfg.Settings == nil {
		cfg.Settings = quick
	}
	cfg.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	s, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(context.Background()) })
	return s
}

func stop(t *testing.T, s *Server) {
	t.Helper()
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// query asks the server one value.
func query(t *testing.T, s *Server, text string) string {
	t.Helper()
	db, err := sql.Open("postgres", s.DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var v string
	if err := db.QueryRowContext(t.Context(), text).Scan(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// pid is the server's process.
func pid(t *testing.T, s *Server) int {
	t.Helper()
	p, err := readPidFile(filepath.Join(dataDir(s.dir, s.bin.major), "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	return p.pid
}

// owner is another process that owns the server in dir.
func owner(t *testing.T, dir string) (cmd *exec.Cmd, end func()) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), ownerDir+"="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || strings.TrimSpace(line) != "ready" {
		t.Fatalf("owner: %q, %v", line, err)
	}
	return cmd, func() { in.Close(); cmd.Wait() }
}

// within waits for a condition that becomes true outside this process.
func within(t *testing.T, d time.Duration, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(d); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", d, what)
		}
	}
}
