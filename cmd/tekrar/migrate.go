package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"strconv"
	"time"

	"github.com/tekrar/tekrar/store"
)

func migrateUp(fs *flag.FlagSet) action {
	asJSON := fs.Bool("json", false, "one JSON object: schema, now")
	return func(ctx context.Context, p *program, c config, _ []string) error {
		return p.withDatabase(ctx, c, func(db *store.DB) error {
			steps, applied := stepsOf(ctx, db)
			stop := p.quietly(*asJSON)("migrating", steps, applied)
			err := db.Migrate(ctx)
			stop()
			if err != nil {
				return err
			}
			if *asJSON {
				return p.did(true, "schema", db.Schema(), "up to date")
			}
			_, err = fmt.Fprintf(p.stdout, "Schema %s is up to date.\n", plain(db.Schema()))
			return err
		})
	}
}

// stepsOf counts the steps of the schema, and those that are applied by now. A step is
// seen when its transaction has committed. total is 0 when that cannot be told.
func stepsOf(ctx context.Context, db *store.DB) (total int64, applied func() int64) {
	var last int64
	count := func() (n, of int64) {
		steps, err := db.MigrateStatus(ctx)
		if err != nil {
			return last, 0
		}
		for _, s := range steps {
			if s.AppliedAt != nil {
				n++
			}
		}
		last = n
		return n, int64(len(steps))
	}
	before, total := count()
	if before == total {
		return 0, nil
	}
	return total, func() int64 { n, _ := count(); return n }
}

type migrationJSON struct {
	Version   int64      `json:"version"`
	Name      string     `json:"name"` // empty: unknown to this program
	AppliedAt *time.Time `json:"applied_at"`
}

func migrateStatus(fs *flag.FlagSet) action {
	asJSON := fs.Bool("json", false, "one JSON array")
	return func(ctx context.Context, p *program, c config, _ []string) error {
		return p.withDatabase(ctx, c, func(db *store.DB) error {
			steps, err := db.MigrateStatus(ctx)
			if err != nil {
				return err
			}
			out := []migrationJSON{}
			var rows [][]string
			for _, s := range steps {
				applied := "no"
				if s.AppliedAt != nil {
					applied = s.AppliedAt.UTC().Format(time.RFC3339)
				}
				out = append(out, migrationJSON{s.Version, s.Name, inUTC(s.AppliedAt)})
				rows = append(rows, []string{strconv.FormatInt(s.Version, 10), cmp.Or(s.Name, "(unknown to this program)"), applied})
			}
			if *asJSON {
				return writeJSON(p.stdout, out)
			}
			return p.table("VERSION NAME APPLIED", rows)
		})
	}
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
