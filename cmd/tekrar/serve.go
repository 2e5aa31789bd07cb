package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/web"
)

// runServe is the dashboard alone, for jobs that run in other processes.
func runServe(ctx context.Context, p *program, c config, _ []string) error {
	log := p.logger(c)
	ln, err := listen(c.addr)
	if err != nil {
		return err
	}
	defer ln.Close()
	who, err := access(c, ln.Addr(), false)
	if err != nil {
		return err
	}
	return p.withSchema(ctx, c, func(db *store.DB) error {
		client, err := jobs.New(db, jobs.Config{Logger: log})
		if err != nil {
			return err
		}
		replica, err := watchReplica(ctx, db)
		if err != nil {
			return err
		}
		s, err := web.NewServer(ln, c.prefix, client, web.Options{Access: who, Redact: c.redact, MetricsToken: c.metricsToken, ReadOnly: replica.Load, Logger: log})
		if err != nil {
			return err
		}
		how := "it runs no jobs itself"
		if replica.Load() {
			how = "the database takes no writes, so neither does it"
		}
		fmt.Fprintf(p.stdout, "Tekrar's dashboard is at %s; %s\n", browserURL(ln.Addr(), c.prefix), how)
		ended := make(chan error, 1)
		end := context.AfterFunc(ctx, func() { ended <- shutDown(s) })
		if err := s.Serve(); err != nil || end() {
			return err // it stopped although nobody asked
		}
		return <-ended
	})
}

// shutdownWait is how long open requests and sockets may take at the end.
const shutdownWait = 10 * time.Second

// shutDown ends sockets with 1001 and lets open requests finish.
func shutDown(s *web.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownWait)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil // who does not let go by then is cut off by the end of the process
}

// askReplica is how long after a promotion the dashboard may still refuse actions.
const askReplica = 10 * time.Second

// watchReplica says whether the database takes no writes, now and until ctx ends.
// While it does not answer the last answer holds.
func watchReplica(ctx context.Context, db *store.DB) (*atomic.Bool, error) {
	now, err := db.ReadOnly(ctx)
	if err != nil {
		return nil, err
	}
	readOnly := &atomic.Bool{}
	readOnly.Store(now)
	go func() {
		tick := time.NewTicker(askReplica)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			ask, cancel := context.WithTimeout(ctx, askReplica/2)
			if now, err := db.ReadOnly(ask); err == nil {
				readOnly.Store(now)
			}
			cancel()
		}
	}()
	return readOnly, nil
}
