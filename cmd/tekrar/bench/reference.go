package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// Reference is what the server does without any engine, measured by pgbench with
// 8 clients just before and just after the sub-bench: figures of two machines, or
// of two hours on one, compare as ratios to it.
type Reference struct {
	SelectBefore float64 `json:"select_before"` // pgbench -S, transactions a second
	InsertBefore float64 `json:"insert_before"` // one row, one commit, transactions a second
	SelectAfter  float64 `json:"select_after"`
	InsertAfter  float64 `json:"insert_after"`
}

const (
	referenceSeconds  = "2"
	referenceDatabase = "reference"
	// insertOne is pgbench's own history row, one a transaction.
	insertOne = "insert into pgbench_history (tid, bid, aid, delta, mtime) values (1, 1, 1, 1, current_timestamp);\n"
)

// pgbench is the program that measures the reference; "" when there is none:
// figures then come without.
func (b *bench) pgbench() string {
	if b.server != nil {
		if path := b.server.Binary("pgbench"); exists(path) {
			return path
		}
	}
	path, err := exec.LookPath("pgbench")
	if err != nil || b.server == nil { // a database that is not ours gets no tables of pgbench
		return ""
	}
	return path
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// prepareReference makes the database of the reference, once a run.
func (b *bench) prepareReference(ctx context.Context) error {
	if b.reference = b.pgbench(); b.reference == "" {
		return nil
	}
	if err := b.server.CreateDatabase(ctx, referenceDatabase); err != nil {
		return err
	}
	script := filepath.Join(b.server.Dir(), "reference.sql")
	if err := os.WriteFile(script, []byte(insertOne), 0o600); err != nil {
		return err
	}
	b.script = script
	defer b.Working.on("filling the database of the reference", 0, nil)()
	if out, err := exec.CommandContext(ctx, b.reference, "-i", "-q", "-s", "5", b.server.DSN(referenceDatabase)).CombinedOutput(); err != nil {
		return fmt.Errorf("prepare the reference: %w: %s", err, out)
	}
	return nil
}

var tps = regexp.MustCompile(`(?m)^tps = ([0-9.]+)`)

// measureReference is the rate of selects and of inserts, both 0 without pgbench.
func (b *bench) measureReference(ctx context.Context) (selects, inserts float64, err error) {
	if b.reference == "" {
		return 0, 0, nil
	}
	defer b.Working.on("measuring the server without an engine", 0, nil)()
	if selects, err = b.runReference(ctx, "-S"); err == nil {
		inserts, err = b.runReference(ctx, "-f", b.script)
	}
	return selects, inserts, err
}

func (b *bench) runReference(ctx context.Context, what ...string) (float64, error) {
	args := append([]string{"-n", "-c", "8", "-j", "2", "-M", "prepared", "-T", referenceSeconds}, what...)
	out, err := exec.CommandContext(ctx, b.reference, append(args, b.server.DSN(referenceDatabase))...).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("measure the reference: %w: %s", err, out)
	}
	found := tps.FindSubmatch(out)
	if found == nil {
		return 0, fmt.Errorf("measure the reference: no rate in the output of pgbench: %s", out)
	}
	return strconv.ParseFloat(string(found[1]), 64)
}
