package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/tekrar/tekrar/store"
)

// finding is the outcome of one look. Advice says what to do; it is empty when
// nothing needs doing.
type finding struct {
	Check  string `json:"check"`
	Level  string `json:"level"` // ok, warning, wrong
	Says   string `json:"says"`
	Advice string `json:"advice,omitempty"`
}

const (
	fine    = "ok"
	warning = "warning"
	wrong   = "wrong"
)

// examination is one run of the doctor.
type examination struct {
	db       *store.DB
	long     time.Duration // transactions open for longer are told
	findings []finding
}

func (e *examination) add(check, level, says, advice string) {
	e.findings = append(e.findings, finding{check, level, says, advice})
}

func doctor(fs *flag.FlagSet) action {
	long := fs.Duration("long", time.Minute, "tell of transactions open for longer than this (default 1m)")
	asJSON := fs.Bool("json", false, "one JSON object: findings, wrong, warnings")
	return func(ctx context.Context, p *program, c config, _ []string) error {
		if c.database == "" {
			return errNoDatabase
		}
		db, err := store.Open(c.database, store.Options{Schema: c.schema, Logger: p.logger(c)})
		if err != nil {
			return err
		}
		defer db.Close()
		e := &examination{db: db, long: *long}
		stop := p.quietly(*asJSON)("examining the database", 0, nil)
		e.run(ctx)
		stop()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return p.report(e.findings, *asJSON)
	}
}

// run looks at one thing after the other, as far as the one before allows.
func (e *examination) run(ctx context.Context) {
	if !e.connects(ctx) {
		return
	}
	d, err := e.db.Diagnose(ctx, e.long)
	if err != nil {
		e.add("server", wrong, err.Error(), "let this user read pg_stat_activity and pg_class")
		return
	}
	e.writable(d)
	e.clock(ctx)
	schema := e.schema(ctx)
	if !d.ReadOnly {
		e.listens(ctx)
	}
	e.vacuum(d)
	e.transactions(d)
	e.connections(d)
	if schema {
		e.servers(ctx, d)
	}
}

func (p *program) report(all []finding, asJSON bool) error {
	count := map[string]int{}
	for _, f := range all {
		count[f.Level]++
	}
	if asJSON {
		err := writeJSON(p.stdout, map[string]any{"findings": all, "wrong": count[wrong], "warnings": count[warning]})
		if err != nil {
			return err
		}
	} else {
		var rows [][]string
		for _, f := range all {
			rows = append(rows, []string{f.Level, f.Check, f.Says})
			if f.Advice != "" {
				rows = append(rows, []string{" ", " ", "=> " + f.Advice})
			}
		}
		if err := p.table("RESULT CHECK WHAT", rows); err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "%d wrong, %d warnings, %d ok\n", count[wrong], count[warning], count[fine])
	}
	if count[wrong] > 0 {
		return errors.New("the doctor found something wrong: " + firstWrong(all))
	}
	return nil
}

func firstWrong(all []finding) string {
	for _, f := range all {
		if f.Level == wrong {
			return f.Check + ": " + f.Says
		}
	}
	return ""
}
