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
	Jobs     int    `json:"jobs"`       // jobs of drain, held, procs, aged and bytes
	Workers  int    `json:"workers"`    // of drain; of each process
	ArgBytes int    `json:"args_bytes"` // size of the args
	Aged     int    `json:"aged"`       // finished jobs in the tables of aged and steady-aged
	Rate     int    `json:"rate"`       // jobs a second of steady and steady-aged
	Seconds  int    `json:"seconds"`    // of these
	Database string `json:"-"`          // address; empty: a private server with fsync on
	River    bool   `json:"-"`          // measure River on the same server as well

	Working Working `json:"-"` // is told of each phase; nil: nobody
}

// Working is told that a phase begins, how much it has to do (0: not known) and whom
// to ask, at any time until stop, how much is done. Phases follow each other.
type Working func(phase string, total int64, done func() int64) (stop func())

func (w Working) on(phase string, total int64, done func() int64) (stop func()) {
	if w == nil {
		return func() {}
	}
	return w(phase, total, done)
}

// during is a phase whose length is known.
func (w Working) during(phase string, d time.Duration) (stop func()) {
	began := time.Now()
	return w.on(phase+" (seconds)", int64(d.Seconds()), func() int64 { return int64(time.Since(began).Seconds()) })
}

// Figure is one line of output.
type Figure struct {
	Bench    string   `json:"bench"`
	Figure   string   `json:"figure"`
	Value    float64  `json:"value"`
	Unit     string   `json:"unit"`
	Engine   string   `json:"engine"`
	Settings Settings `json:"settings"`

	Ratio     float64    `json:"ratio_to_river,omitempty"` // with River measured: this figure by River's
	Reference *Reference `json:"reference,omitempty"`
}

type bench struct {
	Settings
	server *pgtemp.Server
	out    io.Writer
	all    []Figure // of the running sub-bench, printed when its reference is complete

	reference, script string // pgbench and its script; "": no reference
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
	{"held", (*bench).held},
	{"procs", (*bench).procs},
	{"aged", (*bench).aged},
	{"steady", (*bench).steady},
	{"steady-aged", (*bench).steadyAged},
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
		stop := s.Working.on("starting a private Postgres", 0, nil)
		server, err := pgtemp.Start(ctx, pgtemp.Config{Logger: slog.New(slog.DiscardHandler), Settings: map[string]string{
			"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on",
			"shared_buffers": "1GB", "max_wal_size": "4GB", "max_connections": "100",
		}})
		stop()
		if err != nil {
			return err
		}
		b.server = server
		defer server.Stop(context.WithoutCancel(ctx))
		if err := b.prepareReference(ctx); err != nil {
			return err
		}
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

func (b *bench) measure(ctx context.Context, one sub) (err error) {
	var ref Reference
	if ref.SelectBefore, ref.InsertBefore, err = b.measureReference(ctx); err != nil {
		return err
	}
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
	if err := one.run(b, ctx, db); err != nil {
		return err
	}
	if ref.SelectAfter, ref.InsertAfter, err = b.measureReference(ctx); err != nil {
		return err
	}
	b.flush(ref)
	return nil
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
		if b.server != nil {
			_ = b.server.DropDatabase(context.WithoutCancel(ctx), name)
		}
	}, nil
}

// print keeps a figure until the reference after it is known.
func (b *bench) print(f Figure) {
	if f.Engine == "" {
		f.Engine = "tekrar"
	}
	f.Settings = b.Settings
	b.all = append(b.all, f)
}

func (b *bench) flush(ref Reference) {
	rivers := map[string]float64{}
	for _, f := range b.all {
		if f.Engine == "river" {
			rivers[f.Figure] = f.Value
		}
		if ref.SelectAfter > 0 {
			f.Reference = &ref
		}
		if other := rivers[f.Figure]; other > 0 && f.Engine == "tekrar" {
			f.Ratio = f.Value / other
		}
		line, _ := json.Marshal(f)
		fmt.Fprintf(b.out, "%s\n", line)
	}
	b.all = nil
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
