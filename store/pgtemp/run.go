//go:build linux || darwin

package pgtemp

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lib/pq"
)

// ownMark on the command line tells our servers from a person's.
const ownMark = "cluster_name=tekrar"

// process is a postgres started by this process.
type process struct {
	cmd *exec.Cmd
	err error // valid when done is closed
}

// run creates the data where there is none and starts the server.
func (s *Server) run(ctx context.Context) error {
	began := time.Now()
	data := dataDir(s.dir, s.bin.major)
	if !hasData(data) {
		if err := s.create(ctx, data); err != nil {
			return err
		}
	}
	logPath := filepath.Join(s.dir, "postgres.log")
	os.Rename(logPath, logPath+".1")
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(s.bin.path("postgres"), s.arguments(data)...)
	cmd.Dir, cmd.Env = s.dir, cleanEnv()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = s.attributes()
	proc, done := &process{cmd: cmd}, make(chan struct{})
	started := make(chan error)
	go func() {
		// The parent-death signal comes when the *thread* that forked ends, so
		// this goroutine keeps its thread to itself until the server has ended.
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			proc.err = cmd.Wait()
			close(done)
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	s.mu.Lock()
	s.proc, s.done = proc, done
	s.mu.Unlock()
	ended := func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
	if err := s.ready(ctx, ended); err != nil {
		end(context.WithoutCancel(ctx), cmd.Process.Pid, immediate, ended)
		return fmt.Errorf("%w; its log %s ends:\n%s", err, logPath, tail(logPath))
	}
	s.cfg.Logger.Info("started Postgres", "version", s.bin.major, "folder", s.dir, "took", time.Since(began).Round(time.Millisecond))
	return nil
}

func (s *Server) arguments(data string) []string {
	settings := map[string]string{
		"listen_addresses":        "",
		"port":                    port,
		"unix_socket_directories": `"` + s.socket + `"`,
		"unix_socket_permissions": "0700",
		"logging_collector":       "off",
		"log_destination":         "stderr",
	}
	if s.cfg.Ephemeral {
		// Not synchronous_commit: without fsync it costs nothing, and a commit
		// that was acknowledged must outlive Crash.
		maps.Copy(settings, map[string]string{
			"fsync": "off", "full_page_writes": "off",
			"timezone": "UTC", "log_timezone": "UTC", // not that of who ran initdb
		})
	}
	maps.Copy(settings, s.cfg.Settings)
	args := []string{"-D", data, "-c", ownMark}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, "-c", name+"="+settings[name])
	}
	return args
}

// initdb works in a sibling that is renamed when whole: half a data folder
// would be taken for data by the next start.
func (s *Server) initdb(ctx context.Context, data string) error {
	partial := data + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return fmt.Errorf("initdb: %w", err)
	}
	cmd := exec.CommandContext(ctx, s.bin.path("initdb"), append(slices.Clone(initdbArguments), "-D", partial)...)
	cmd.Dir, cmd.Env = s.dir, cleanEnv()
	if out, err := s.asAccount(cmd); err != nil {
		os.RemoveAll(partial)
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return fmt.Errorf("initdb in %s: %w\n%s", s.dir, err, strings.TrimSpace(string(out)))
	}
	if err := os.Rename(partial, data); err != nil {
		return fmt.Errorf("initdb: %w", err)
	}
	return nil
}

// initdbArguments sync the data even of what is thrown away: it is copied after a
// power cut, too.
var initdbArguments = []string{"-U", Superuser, "-E", "UTF8", "--locale=C", "--auth-local=trust", "--auth-host=reject"}

// asAccount runs a program that ends by itself and returns what it printed.
func (s *Server) asAccount(cmd *exec.Cmd) ([]byte, error) {
	cmd.SysProcAttr = s.attributes()
	runtime.LockOSThread() // see run: the thread must outlive its child
	defer runtime.UnlockOSThread()
	return cmd.CombinedOutput()
}

// attributes: an own process group, so that Ctrl-C at the terminal reaches this
// program first and it stops its workers before their database.
func (s *Server) attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Credential: s.as.credential()}
	dieWithParent(a)
	return a
}

// ready waits until the server answers queries, which includes crash recovery.
func (s *Server) ready(ctx context.Context, ended func() bool) error {
	c, err := pq.NewConnector(s.DSN(""))
	if err != nil {
		return err
	}
	db := sql.OpenDB(c)
	defer db.Close()
	for {
		err := db.PingContext(ctx)
		if err == nil {
			return nil
		}
		if ended() {
			return errors.New("the server ended while it started")
		}
		if pauseErr := pause(ctx, 10*time.Millisecond); pauseErr != nil {
			return fmt.Errorf("the server did not become ready (%w): %w", pauseErr, err)
		}
	}
}

// cleanEnv keeps a person's PG* variables away from our server.
func cleanEnv() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "PG") || strings.HasPrefix(v, "LC_") || strings.HasPrefix(v, "LANG")
	})
	return append(env, "LC_ALL=C")
}

func tail(path string) string {
	text, _ := os.ReadFile(path)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}
