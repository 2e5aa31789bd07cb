package main

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/migrations"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// before is the last commit whose program brings five migrations.
const before = "b209f24"

// oldBinary builds the program of that commit, whose sources come from git's archive.
func oldBinary(t *testing.T) string {
	t.Helper()
	const root = "../.."
	if out, err := exec.Command("git", "-C", root, "-c", "safe.directory=*", "cat-file", "-e", before+"^{commit}").CombinedOutput(); err != nil {
		t.Skipf("a clone without the history of %s: %s", before, out)
	}
	dir := t.TempDir()
	archive, err := exec.Command("git", "-C", root, "-c", "safe.directory=*", "archive", "--format=tar", before).Output()
	if err != nil {
		t.Fatal(err)
	}
	untar := exec.Command("tar", "-x", "-C", dir)
	untar.Stdin = strings.NewReader(string(archive))
	if out, err := untar.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	path := filepath.Join(dir, "tekrar-before")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", path, "./cmd/tekrar")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// run runs a program to its end and gives what it said.
func run(t *testing.T, path string, env []string, args ...string) (out string, code int) {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}, env...)
	text, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// A rolling deploy with two real programs: the old one works on an old schema, the
// schema is migrated under its load, the old one goes on, the new one joins it, and
// the old one leaves. No job is lost, none ends twice, and no server is taken for lost.
func TestRollingDeployWithAnOldProgram(t *testing.T) {
	t.Parallel()
	old := oldBinary(t)
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	dsn := storetest.EmptyDSN(t)
	env := []string{"DATABASE_URL=" + dsn}
	if out, code := run(t, old, env, "migrate", "up"); code != 0 {
		t.Fatal(out)
	}
	journal := filepath.Join(t.TempDir(), "journal")
	was := startWorker(t, old, dsn, "before", journal)
	db := storetest.Open(t, dsn, store.Options{Logger: slog.New(slog.DiscardHandler)})
	const alive = `select count(*) from tekrar.servers where lost_at is null and stopped_at is null and lease_until > now()`
	until(t, ctx, "the old worker is there", func() bool { return count(db, alive) == 1 })

	tekrar(t, env, "jobs", "list").wantFailure(t, 1, "lacks migration 00006", "tekrar migrate up")
	tekrar(t, env, "serve", "--auth", "none", "--addr", "127.0.0.1:0").wantFailure(t, 1, "lacks migration 00006", "tekrar migrate up")
	for range 20 {
		if out, code := run(t, old, env, "jobs", "enqueue", "chaos.plain", `{"n":1,"ms":20}`); code != 0 {
			t.Fatal(out)
		}
	}
	tekrar(t, env, "migrate", "up").wantDone(t)
	l := startLoad(t, storetest.Open(t, dsn, store.Options{Logger: slog.New(slog.DiscardHandler)}))
	l.flows(t, ctx, db)
	if n := count(db, alive); n != 1 {
		t.Errorf("%d servers, want the old one alone", n)
	}
	if n := strings.Count(was.stderr.String(), "failed"); n != 0 {
		t.Errorf("the old worker complains of the new schema: %s", was.stderr)
	}

	is := startWorker(t, path, dsn, "after", journal)
	until(t, ctx, "both work side by side", func() bool { return count(db, alive) == 2 })
	l.flows(t, ctx, db)
	was.stop()
	l.flows(t, ctx, db)
	if n := count(db, lost); n != 0 {
		t.Errorf("%d servers were taken for lost", n)
	}
	l.finished(t, ctx, db, is)
}

// newer records a step of a later program.
func newer(t *testing.T, dsn string, version string) {
	t.Helper()
	out, err := exec.Command(storetest.Server(t).Binary("psql"), "-X", "-d", dsn, "-c",
		"insert into tekrar.goose_db_version (version_id, is_applied) values ("+version+", true)").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// In a rolling deploy the schema comes first: this program starts, serves and is ready
// beside later steps that only add, and refuses one that it cannot live with.
func TestThisProgramBesideANewerSchema(t *testing.T) {
	t.Parallel()
	if storetest.Server(t) == nil {
		t.Skip("needs psql of a private server")
	}
	files, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil || len(files) >= 999 {
		t.Fatal(len(files), err)
	}
	dsn := storetest.DSN(t)
	env := []string{"DATABASE_URL=" + dsn}
	board := launch(t, env, "serve", "--auth", "none", "--addr", "127.0.0.1:0")
	newer(t, dsn, "999")
	if code, body := board.page("readyz"); code != 200 {
		t.Errorf("a running dashboard answers %d after the migration: %s", code, body)
	}
	tekrar(t, env, "migrate", "up").wantDone(t)
	tekrar(t, env, "jobs", "list").wantDone(t)
	if f := examined(t, tekrar(t, env, "doctor", "--json"))["schema"]; f.Level != fine || !strings.Contains(f.Says, "newer than this program") {
		t.Errorf("doctor: %+v", f)
	}
	launch(t, env, "serve", "--auth", "none", "--addr", "127.0.0.1:0")
	newer(t, dsn, "1000")
	for _, args := range [][]string{{"migrate", "up"}, {"jobs", "list"}} {
		tekrar(t, env, args...).wantFailure(t, 1, "version 1000", "upgrade the program")
	}
	if code, _ := board.page("readyz"); code != 503 {
		t.Errorf("ready beside a schema that this program cannot live with: %d", code)
	}
}
