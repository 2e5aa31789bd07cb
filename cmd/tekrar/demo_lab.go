package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"time"

	"github.com/tekrar/tekrar/cmd/tekrar/bookstore"
	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// openLab starts the demo's mail provider and the scenarios around it. The provider
// has a loopback port of its own: it cuts connections on purpose, which the
// dashboard's server cannot, and stands outside of its login. stop ends it.
func (p *program) openLab(ctx context.Context, client *jobs.Client, c config, dsn string, log *slog.Logger) (lab *bookstore.Lab, stop func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("find the program for worker processes: %w", err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, fmt.Errorf("start the demo's mail provider: %w", err)
	}
	provider := bookstore.NewProvider()
	server := &http.Server{Handler: provider.Handler(), ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	stop = func() error {
		err := server.Close()
		if end := <-served; !errors.Is(end, http.ErrServerClosed) {
			err = errors.Join(err, end)
		}
		return err
	}
	lab, err = bookstore.OpenLab(ctx, client, bookstore.LabConfig{
		URL: "http://" + ln.Addr().String() + bookstore.ProviderPath, Provider: provider, Logger: log,
		Spawn: func(settings ...string) *exec.Cmd {
			cmd := exec.Command(self, append([]string{workerCommand}, settings...)...)
			cmd.Env = append(slices.Clip(p.environ), "DATABASE_URL="+dsn, "TEKRAR_SCHEMA="+c.schema)
			cmd.Stderr = p.stderr
			return cmd
		},
	})
	if err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	return lab, stop, nil
}

// workerCommand is not in the list of commands: only scenarios start it.
const workerCommand = "demo-worker"

// runDemoWorker ends with its input, and so with the demo, however that ended. Its
// database is given as the demo has it, which need not be a URL.
func (p *program) runDemoWorker(ctx context.Context, in io.Reader, settings []string) error {
	// A terminal's Ctrl-C reaches it too, but a scenario that drains still needs it.
	signal.Ignore(os.Interrupt)
	log := slog.New(slog.DiscardHandler) // its jobs fail on purpose, and the dashboard shows how
	db, err := store.Open(p.getenv("DATABASE_URL"), store.Options{Schema: p.getenv("TEKRAR_SCHEMA"), Logger: log})
	if err != nil {
		return err
	}
	defer db.Close()
	return bookstore.RunWorker(ctx, db, in, p.stdout, log, settings)
}
