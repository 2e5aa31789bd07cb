package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// own is the private Postgres of a demo: its data folder's process id, 0 for none.
func own(t *testing.T, data string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(data, "pg*", "postmaster.pid"))
	if err != nil || len(files) == 0 {
		return 0
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(b), "\n")
	pid, _ := strconv.Atoi(first)
	return pid
}

// dataFolder is not t.TempDir: Postgres, which never runs as root, must get into it.
func dataFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tekrar-demo-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// LIF-12, LIF-07: a kill -9 costs no data and does not hinder the next start; a
// SIGTERM closes sockets with 1001 and stops Postgres.
func TestDemoSurvivesKillAndStopsCleanly(t *testing.T) {
	t.Parallel()
	data := dataFolder(t)
	args := []string{"demo", "--addr", "127.0.0.1:0", "--data", data, "--log", "info"}

	p := launch(t, nil, append(args, "--traffic", "20")...)
	if !strings.Contains(p.line, "Demo page") || !strings.Contains(p.line, data) {
		t.Errorf("the line does not say what to try and where the data is: %s", p.line)
	}
	p.get(t, "jobs/1", func(string) bool { return true })
	p.get(t, "jobs?state=succeeded", func(body string) bool { return strings.Contains(body, "job-row-") })
	first := own(t, data)
	if first == 0 {
		t.Fatal("no Postgres on the data folder")
	}
	p.signal(t, syscall.SIGKILL, 10*time.Second)

	p = launch(t, nil, append(args, "--traffic", "0")...)
	p.get(t, "jobs/1", func(string) bool { return true })
	if second := own(t, data); second == 0 || second == first {
		t.Errorf("Postgres is process %d, was %d", second, first)
	}
	tekrar(t, nil, "healthcheck", "--addr", strings.TrimSuffix(strings.TrimPrefix(p.url, "http://"), "/")).wantDone(t)

	socket := dial(t, p)
	closed := make(chan error, 1)
	go func() {
		for {
			if _, _, err := socket.ReadMessage(); err != nil {
				closed <- err
				return
			}
		}
	}()
	if code := p.signal(t, syscall.SIGTERM, 30*time.Second); code != 0 {
		t.Errorf("exit code %d: %s", code, p.stderr)
	}
	if err := <-closed; !websocket.IsCloseError(err, websocket.CloseGoingAway) {
		t.Errorf("the socket ended with %v, want 1001", err)
	}
	if pid := own(t, data); pid != 0 {
		t.Errorf("Postgres is still there: process %d", pid)
	}
}

func dial(t *testing.T, p *process) *websocket.Conn {
	t.Helper()
	body := p.get(t, "", func(body string) bool { return strings.Contains(body, "/live?") })
	_, rest, _ := strings.Cut(body, "/live?")
	query, _, _ := strings.Cut(rest, `"`)
	url := "ws" + strings.TrimPrefix(p.url, "http") + "live?" + strings.ReplaceAll(query, "&amp;", "&")
	conn, resp, err := websocket.DefaultDialer.Dial(url, http.Header{"Origin": {strings.TrimSuffix(p.url, "/")}})
	if err != nil {
		t.Fatalf("%s: %v %v", url, err, resp)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// The first Ctrl-C waits for a job of 60 s, the second does not.
func TestSecondInterruptEndsAtOnce(t *testing.T) {
	t.Parallel()
	env := onDatabase(t)
	p := launch(t, env, "demo", "--addr", "127.0.0.1:0", "--traffic", "0", "--prefix", "/ops/jobs")
	if !strings.HasSuffix(p.url, "/ops/jobs/") {
		t.Errorf("address %s lacks the prefix", p.url)
	}
	tekrar(t, env, "jobs", "enqueue", "nightly-report", `{"day":"2026-01-31","seconds":60}`).wantDone(t)
	p.get(t, "jobs?state=processing", func(body string) bool { return strings.Contains(body, "job-row-") })
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	p.stderr.until(t, "Ctrl-C again")
	// While it drains the dashboard is there.
	p.get(t, "jobs?state=processing", func(body string) bool { return strings.Contains(body, "nightly-report") })
	if code := p.signal(t, os.Interrupt, 5*time.Second); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
}

func TestServeRunsNoJobs(t *testing.T) {
	t.Parallel()
	env := append(onDatabase(t), "TEKRAR_PASSWORD=correct horse")
	p := launch(t, env, "serve", "--auth", "basic", "--addr", "127.0.0.1:0")
	resp, err := http.Get(p.url)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		t.Fatalf("without a login: %v %v", resp, err)
	}
	resp.Body.Close()
	req, _ := http.NewRequest(http.MethodGet, p.url, nil)
	req.SetBasicAuth("admin", "correct horse")
	if resp, err = http.DefaultClient.Do(req); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("with a login: %v %v", resp, err)
	}
	resp.Body.Close()
	if code := p.signal(t, syscall.SIGTERM, 15*time.Second); code != 0 {
		t.Errorf("exit code %d: %s", code, p.stderr)
	}
}

func TestDataFolderThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tekrar(t, []string{"PATH=" + os.Getenv("PATH")}, "demo", "--addr", "127.0.0.1:0", "--data", file).
		wantFailure(t, 1, "data folder", file)
}

func TestSchemaOfANewerProgram(t *testing.T) {
	t.Parallel()
	env := onDatabase(t)
	db := storetest.Open(t, strings.TrimPrefix(env[0], "DATABASE_URL="), store.Options{})
	err := db.Tx(t.Context(), func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(t.Context(), `insert into tekrar.goose_db_version (version_id, is_applied) values (99999, true)`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"migrate", "up"}, {"jobs", "list"}, {"demo", "--addr", "127.0.0.1:0"}, {"serve", "--auth", "none", "--addr", "127.0.0.1:0"}} {
		tekrar(t, env, args...).wantFailure(t, 1, "99999", "newer", "upgrade")
	}
}

func TestInterruptedBeforeItRan(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("Ctrl-C"))
	r := tekrarUntil(ctx, onDatabase(t), "demo", "--addr", "127.0.0.1:0")
	r.wantFailure(t, 1, "interrupted")
}
