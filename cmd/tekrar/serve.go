package main

import (
	"context"
	"errors"
	"fmt"
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
		s, err := web.NewServer(ln, c.prefix, client, web.Options{Access: who, Logger: log})
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "Tekrar's dashboard is at %s; it runs no jobs itself\n", browserURL(ln.Addr(), c.prefix))
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
