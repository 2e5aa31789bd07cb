package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// The program of docs/getting-started.md does what the page says of it, on a database
// without any schema, from a module of its own.
func TestGettingStartedRuns(t *testing.T) {
	t.Parallel()
	pages := docs(t)
	i := slices.IndexFunc(pages, func(p page) bool { return p.path == "docs/getting-started.md" })
	program := pages[i].blocks[slices.IndexFunc(pages[i].blocks, func(b codeBlock) bool { return b.language == "go" })].text
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	for shown, here := range map[string]string{"127.0.0.1:3000": address, "5 * time.Second": "5 * time.Millisecond"} {
		if strings.Count(program, shown) != 1 {
			t.Fatalf("the program must say %q once", shown)
		}
		program = strings.Replace(program, shown, here, 1)
	}
	dsn := storetest.EmptyDSN(t)
	stop := runReader(t, program, dsn)
	url := "http://" + address
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	until(t, ctx, "the web server answers", func() bool { return status(ctx, http.MethodGet, url+"/jobs/readyz") == http.StatusOK })
	for _, name := range []string{"ada", "nobody"} {
		if code := status(ctx, http.MethodPost, url+"/greet/"+name); code != http.StatusOK {
			t.Fatalf("POST /greet/%s: %d", name, code)
		}
	}
	db := storetest.Open(t, dsn, store.Options{})
	ends := func(id int64, want store.State, attempt int) func() bool {
		return func() bool {
			d, err := db.Job(ctx, id, 0, 0)
			return err == nil && d.State == want && d.Attempt == attempt
		}
	}
	until(t, ctx, "the first job has succeeded", ends(1, store.Succeeded, 1))
	until(t, ctx, "the second one is failed after its third attempt", ends(2, store.Failed, 3))
	if code := status(ctx, http.MethodGet, url+"/jobs"); code != http.StatusOK {
		t.Errorf("the dashboard: %d", code)
	}
	env := []string{"DATABASE_URL=" + dsn}
	if out := tekrar(t, env, "jobs", "list", "--state", "failed").wantDone(t); !strings.Contains(out, "there is nobody to greet") {
		t.Errorf("list: %s", out)
	}
	tekrar(t, env, "jobs", "requeue", "2", "--fresh").wantDone(t)
	until(t, ctx, "it ran three times more", ends(2, store.Failed, 6))
	stop()
}

// runReader builds a program as somebody who imports Tekrar and starts it; the function
// it gives ends it by SIGTERM and wants exit code 0.
func runReader(t *testing.T, program, dsn string) (stop func()) {
	t.Helper()
	dir := t.TempDir()
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	moduleOfDocs(t, dir, top)
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-mod=mod", "-o", "hello", ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOPROXY=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	var said strings.Builder
	cmd := exec.Command(filepath.Join(dir, "hello"))
	cmd.Env = append(os.Environ(), "DATABASE_URL="+dsn)
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	over := false
	end := func(signal syscall.Signal) error {
		over = true
		_ = cmd.Process.Signal(signal) // it may have ended by itself, which Wait says
		select {
		case err := <-ended:
			return err
		case <-time.After(time.Minute):
			_ = cmd.Process.Kill()
			return fmt.Errorf("it does not end: %w", <-ended)
		}
	}
	t.Cleanup(func() {
		if !over {
			_ = end(syscall.SIGKILL)
		}
		if t.Failed() {
			t.Logf("the program said:\n%s", said.String())
		}
	})
	return func() {
		if err := end(syscall.SIGTERM); err != nil {
			t.Errorf("after SIGTERM: %v", err)
		}
	}
}

func until(t *testing.T, ctx context.Context, what string, done func() bool) {
	t.Helper()
	for poll := time.NewTicker(20 * time.Millisecond); !done(); {
		select {
		case <-poll.C:
		case <-ctx.Done():
			t.Fatalf("not in time: %s", what)
		}
	}
}

// status is 0 when nobody answers.
func status(ctx context.Context, method, url string) int {
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return 0
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}
