package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/tekrar/tekrar/store/pgtemp"
)

// demoPostgres is the private server of a demo. When it was started by another
// process that ends, this one starts it again on the same data.
type demoPostgres struct {
	dsn    string
	cancel context.CancelFunc
	done   chan error
}

func (c config) dataDir() string {
	switch {
	case c.ephemeral:
		return c.data // empty: pgtemp takes a temporary folder
	case c.data == "":
		return pgtemp.DefaultDir()
	}
	return c.data
}

func startPostgres(ctx context.Context, c config, log *slog.Logger) (*demoPostgres, error) {
	cfg := pgtemp.Config{Dir: c.dataDir(), Ephemeral: c.ephemeral, Logger: log}
	server, err := pgtemp.Start(ctx, cfg)
	if err != nil {
		return nil, err
	}
	// Not ctx: after Ctrl-C workers still need the server while they drain.
	keep, cancel := context.WithCancel(context.WithoutCancel(ctx))
	d := &demoPostgres{dsn: server.DSN(""), cancel: cancel, done: make(chan error, 1)}
	go func() { d.done <- guard(keep, server, cfg, log) }()
	return d, nil
}

// stop ends the server and waits for it.
func (d *demoPostgres) stop() error {
	d.cancel()
	return <-d.done
}

// guard brings the server back when it ends by itself, until ctx ends.
func guard(ctx context.Context, server *pgtemp.Server, cfg pgtemp.Config, log *slog.Logger) error {
	for {
		select {
		case <-ctx.Done():
			stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
			defer cancel()
			return server.Stop(stop)
		case <-server.Done():
		}
		log.Warn("the private Postgres ended, starting it again", "folder", cfg.Dir)
		for again := error(nil); ctx.Err() == nil; {
			if again = revive(ctx, &server, cfg); again == nil {
				break
			}
			log.Error("the private Postgres does not start", "error", again)
			select {
			case <-ctx.Done():
			case <-time.After(2 * time.Second):
			}
		}
	}
}

// revive keeps the folder of a throw-away server; a shared one is joined or taken over.
func revive(ctx context.Context, server **pgtemp.Server, cfg pgtemp.Config) error {
	if !(*server).Shared() {
		return (*server).Restart(ctx)
	}
	next, err := pgtemp.Start(ctx, cfg)
	if err == nil {
		*server = next
	}
	return err
}
