package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

func (p *program) logger(c config) *slog.Logger {
	level := slog.LevelWarn
	if c.log != nil {
		level = *c.log
	}
	return slog.New(slog.NewTextHandler(p.beside(p.stderr), &slog.HandlerOptions{Level: level}))
}

// openDatabase opens the configured database and asks for its version, so that what
// is wrong with the address is said at once.
func openDatabase(ctx context.Context, c config, dsn string, log *slog.Logger) (*store.DB, error) {
	db, err := store.Open(dsn, store.Options{Schema: c.schema, Logger: log})
	if err != nil {
		return nil, err
	}
	if err = db.CheckVersion(ctx); err == nil {
		err = db.CheckPooler(ctx)
	}
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("database (DATABASE_URL or --database): %w", err)
	}
	return db, nil
}

// withSchema runs do on the configured database, whose schema must fit this program.
func (p *program) withSchema(ctx context.Context, c config, do func(*store.DB) error) error {
	return p.withDatabase(ctx, c, func(db *store.DB) error {
		if err := db.CheckSchema(ctx); err != nil {
			return err
		}
		return do(db)
	})
}

// withClient is withSchema with a client that acts on jobs and runs none.
func (p *program) withClient(ctx context.Context, c config, do func(*jobs.Client) error) error {
	return p.withSchema(ctx, c, func(db *store.DB) error {
		client, err := jobs.New(db, jobs.Config{Logger: p.logger(c)})
		if err != nil {
			return err
		}
		return do(client)
	})
}

var errNoDatabase = usagef("no database: set DATABASE_URL or --database to postgres://user:password@host:port/database")

func (p *program) withDatabase(ctx context.Context, c config, do func(*store.DB) error) error {
	if c.database == "" {
		return errNoDatabase
	}
	db, err := openDatabase(ctx, c, c.database, p.logger(c))
	if err != nil {
		return err
	}
	defer db.Close()
	return do(db)
}
