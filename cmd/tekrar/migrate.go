package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/tekrar/tekrar/store"
)

func migrateUp(ctx context.Context, p *program, c config, _ []string) error {
	return p.withDatabase(ctx, c, func(db *store.DB) error {
		if err := db.Migrate(ctx); err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "Schema %s is up to date.\n", plain(db.Schema()))
		return nil
	})
}

func migrateStatus(ctx context.Context, p *program, c config, _ []string) error {
	return p.withDatabase(ctx, c, func(db *store.DB) error {
		steps, err := db.MigrateStatus(ctx)
		if err != nil {
			return err
		}
		t := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "VERSION\tNAME\tAPPLIED")
		for _, s := range steps {
			name, applied := s.Name, "no"
			if name == "" {
				name = "(unknown to this program)"
			}
			if s.AppliedAt != nil {
				applied = s.AppliedAt.UTC().Format(time.RFC3339)
			}
			fmt.Fprintf(t, "%d\t%s\t%s\n", s.Version, plain(name), applied)
		}
		return t.Flush()
	})
}

// migratePrint needs no server: it prints for a person who has none at hand, too.
func migratePrint(_ context.Context, p *program, c config, _ []string) error {
	dsn := c.database
	if dsn == "" {
		dsn = "postgres://localhost/tekrar"
	}
	db, err := store.Open(dsn, store.Options{Schema: c.schema, Logger: p.logger(c)})
	if err != nil {
		return err
	}
	defer db.Close()
	return db.MigratePrint(p.stdout)
}
