package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"github.com/tekrar/tekrar/cmd/tekrar/bookstore"
	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/web"
)

// runDemo is Postgres, workers, dashboard and a few customers in one process. It
// ends in the order in which people can still see what happens: workers drain,
// sockets are closed, and Postgres stops last.
func runDemo(ctx context.Context, p *program, c config, _ []string) (err error) {
	if c.log == nil {
		quiet := slog.LevelError // its jobs fail on purpose, several times a minute
		c.log = &quiet
	}
	log := p.logger(c)
	// Cheapest first: a taken port needs no Postgres to be found out.
	ln, err := listen(c.addr)
	if err != nil {
		return err
	}
	defer ln.Close()
	who, err := access(c, ln.Addr(), true)
	if err != nil {
		return err
	}
	dsn := c.database
	if dsn == "" {
		fmt.Fprintln(p.stderr, "starting a private Postgres ...")
		stop := p.working("fetching, preparing or starting Postgres", 0, nil)
		pg, startErr := startPostgres(ctx, c, log)
		stop()
		if startErr != nil {
			return startErr
		}
		defer func() { err = errors.Join(err, pg.stop()) }()
		dsn = pg.dsn
	}
	db, err := openDatabase(ctx, c, dsn, log)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.Migrate(ctx); err != nil {
		return err
	}
	world := bookstore.New(bookstore.Config{Logger: log})
	client, err := demoClient(db, c, p)
	if err != nil {
		return err
	}
	world.Register(client)
	lab, stopLab, err := p.openLab(ctx, client, c, dsn, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopLab()) }()
	site, err := web.NewServer(ln, c.prefix, client, web.Options{
		Access: who, Environment: "demo", Demo: lab.DemoPage(), Redact: c.redact, MetricsToken: c.metricsToken, Logger: log,
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "Tekrar is at %s: press a card on its Demo page and follow the job; Ctrl-C stops it, data stays in %s\n",
		browserURL(ln.Addr(), c.prefix), c.where())
	return p.serveJobs(ctx, site, client, func(ctx context.Context) { world.Traffic(ctx, client, c.traffic) })
}

func demoClient(db *store.DB, c config, p *program) (*jobs.Client, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return jobs.New(db, jobs.Config{
		Workers: c.workers,
		Name:    fmt.Sprintf("demo@%s:%d", host, os.Getpid()),
		Version: version(),
		Webhook: c.webhook,
		Logger:  p.logger(c),
	})
}

// serveJobs runs workers, dashboard and traffic until ctx ends or one of them fails.
// While the workers drain the dashboard stays, so that a job can still be deleted.
func (p *program) serveJobs(ctx context.Context, s *web.Server, client *jobs.Client, traffic func(context.Context)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	var ran, served error
	wg.Go(func() { defer cancel(); ran = client.Run(ctx) })
	wg.Go(func() { traffic(ctx) })
	end := context.AfterFunc(ctx, func() {
		fmt.Fprintln(p.stderr, "stopping: waiting for running jobs; Ctrl-C again stops at once")
	})
	defer end()
	serving := make(chan struct{})
	go func() { defer close(serving); defer cancel(); served = s.Serve() }()
	wg.Wait()
	closed := shutDown(s)
	<-serving
	return errors.Join(ran, served, closed)
}

// where tells a person the place of the data.
func (c config) where() string {
	switch {
	case c.database != "":
		return "your database, schema " + plain(c.schema)
	case c.ephemeral:
		return "a throw-away folder (--ephemeral)"
	}
	return plain(c.dataDir())
}
