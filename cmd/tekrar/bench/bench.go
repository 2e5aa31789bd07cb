// Package bench measures the engine in process with no-op jobs and prints one
// JSON line a figure. Ratios between lines of one run mean something; absolute
// figures are this machine's.
package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/pgtemp"
)

// Settings of a run; every line repeats them.
type Settings struct {
	Jobs     int    `json:"jobs"`       // jobs of drain and bytes
	Workers  int    `json:"workers"`    // of drain
	ArgBytes int    `json:"args_bytes"` // size of the args
	Database string `json:"-"`          // address; empty: a private server with fsync on
	River    bool   `json:"-"`          // measure River on the same server as well
}

// Figure is one line of output.
type Figure struct {
	Bench    string   `json:"bench"`
	Figure   string   `json:"figure"`
	Value    float64  `json:"value"`
	Unit     string   `json:"unit"`
	Engine   string   `json:"engine"`
	Settings Settings `json:"settings"`
}

type bench struct {
	Settings
	server *pgtemp.Server
	out    io.Writer
	all    []Figure
}

// one sub-bench, run on a fresh database.
type sub struct {
	name string
	run  func(*bench, context.Context, *store.DB) error
}

var subs = []sub{
	{"enqueue-bulk", (*bench).enqueueBulk},
	{"enqueue-single", (*bench).enqueueSingle},
	{"drain", (*bench).drain},
	{"latency", (*bench).latency},
	{"bytes", (*bench).bytes},
}

// Names lists the sub-benches.
func Names() []string {
	var names []string
	for _, s := range subs {
		names = append(names, s.name)
	}
	return names
}

// Run runs the named sub-benches, all if none is named.
func Run(ctx context.Context, s Settings, names []string, out io.Writer) error {
	for _, name := range names {
		if !slices.Contains(Names(), name) {
			return fmt.Errorf("unknown bench %q; known: %s", name, strings.Join(Names(), ", "))
		}
	}
	b := &bench{Settings: s, out: out}
	if s.Database == "" {
		server, err := pgtemp.Start(ctx, pgtemp.Config{Logger: slog.New(slog.DiscardHandler), Settings: map[string]string{
			"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on",
			"shared_buffers": "1GB", "max_wal_size": "4GB", "max_connections": "100",
		}})
		if err != nil {
			return err
		}
		b.server = server
		defer server.Stop(context.WithoutCancel(ctx))
	}
	for _, one := range subs {
		if len(names) > 0 && !slices.Contains(names, one.name) {
			continue
		}
		if err := b.measure(ctx, one); err != nil {
			return fmt.Errorf("bench %s: %w", one.name, err)
		}
	}
	return nil
}

func (b *bench) measure(ctx context.Context, one sub) error {
	if b.River {
		if err := b.river(ctx, one.name); err != nil {
			return err
		}
	}
	db, done, err := b.fresh(ctx)
	if err != nil {
		return err
	}
	defer done()
	return one.run(b, ctx, db)
}

// fresh opens a database of its own: on the private server a new one, elsewhere
// a new schema, dropped at the end.
func (b *bench) fresh(ctx context.Context) (*store.DB, func(), error) {
	name := fmt.Sprintf("bench_%d", time.Now().UnixNano())
	dsn, schema := b.Database, name
	if b.server != nil {
		if err := b.server.CreateDatabase(ctx, name); err != nil {
			return nil, nil, err
		}
		dsn, schema = b.server.DSN(name), store.DefaultSchema
	}
	db, err := store.Open(dsn, store.Options{Schema: schema})
	if err != nil {
		return nil, nil, err
	}
	if err := db.Migrate(ctx); err != nil {
		db.Close()
		return nil, nil, err
	}
	return db, func() {
		if b.server == nil {
			_ = db.DropSchema(context.WithoutCancel(ctx))
		}
		db.Close()
	}, nil
}

func (b *bench) print(f Figure) {
	if f.Engine == "" {
		f.Engine = "tekrar"
	}
	f.Settings = b.Settings
	b.all = append(b.all, f)
	line, _ := json.Marshal(f)
	fmt.Fprintf(b.out, "%s\n", line)
}

// noop is the job of all benches.
type noop struct {
	N    int    `json:"n"`
	Fill string `json:"fill,omitempty"`
}

func (noop) Kind() string { return "noop" }

func (b *bench) args(n int) noop { return noop{N: n, Fill: strings.Repeat("x", b.ArgBytes)} }

func (b *bench) client(db *store.DB, workers int) (*jobs.Client, error) {
	return jobs.New(db, jobs.Config{Workers: workers, Logger: slog.New(slog.DiscardHandler)})
}
