package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/tekrar/tekrar/cmd/tekrar/bench"
)

// command is one row of the program's table. Its settings can be given as flags or
// in the environment; flags adds what only it knows and returns what it does.
type command struct {
	name     string // "demo", or two words: "jobs list"
	args     string // positional arguments, as usage shows them
	summary  string
	settings []string
	flags    func(*flag.FlagSet) action
}

// action does the work; args are the positional ones.
type action func(ctx context.Context, p *program, c config, args []string) error

// plainAction is for a command without flags of its own.
func plainAction(a action) func(*flag.FlagSet) action {
	return func(*flag.FlagSet) action { return a }
}

func commands() []command {
	database := []string{"database", "schema", "log"}
	serving := append([]string{"addr", "auth", "user", "password", "prefix"}, database...)
	demo := append([]string{"data", "ephemeral", "workers", "traffic"}, serving...)
	return []command{
		{"demo", "", "run the bookstore: Postgres, workers and dashboard in one process", demo, plainAction(runDemo)},
		{"serve", "", "serve the dashboard of a database; runs no jobs", serving, plainAction(runServe)},
		{"migrate up", "", "bring the schema to this program's version", database, plainAction(migrateUp)},
		{"migrate status", "", "list the migrations and when they were applied", database, plainAction(migrateStatus)},
		{"migrate print", "", "write the migrations' SQL, for somebody who applies it by hand", database, plainAction(migratePrint)},
		{"jobs list", "", "list the jobs in one state", database, jobsList},
		{"jobs show", "ID", "show a job with its history", database, jobsShow},
		{"jobs requeue", "ID...", "run jobs again that are not running", database, jobsRequeue},
		{"jobs delete", "ID...", "delete jobs; a running one is asked to stop", database, jobsDelete},
		{"jobs enqueue", "KIND ARGS", "enqueue a job; ARGS is a JSON object", database, jobsEnqueue},
		{"bench", "[NAME...]", "measure the engine: enqueue-bulk, enqueue-single, drain, latency, bytes; or chaos: prove it under faults", database[:1], benchCommand},
		{"healthcheck", "", "ask a running program for its health", []string{"addr", "prefix"}, plainAction(healthcheck)},
		{"version", "", "print the version", nil, plainAction(printVersion)},
	}
}

// dispatch finds the command, reads its settings and runs it.
func (p *program) dispatch(ctx context.Context, args []string) error {
	if len(args) == 0 {
		p.usage(p.stderr)
		return usagef("a command is needed")
	}
	if slices.Contains([]string{"help", "-h", "-help", "--help"}, args[0]) {
		return p.help(args[1:])
	}
	if args[0] == workerCommand {
		return p.runDemoWorker(ctx, os.Stdin, args[1:])
	}
	if args[0] == bench.ChaosWorkerCommand {
		return p.runChaosWorker(ctx, os.Stdin, args[1:])
	}
	cmd, rest, err := find(args)
	if err != nil {
		return err
	}
	fs, own := cmd.flagSet()
	c, positional, err := p.configure(cmd, fs, rest)
	if errors.Is(err, flag.ErrHelp) {
		return p.help(strings.Fields(cmd.name))
	}
	if err != nil {
		return err
	}
	if err := cmd.checkArgs(positional); err != nil {
		return err
	}
	return own(ctx, p, c, positional)
}

func find(args []string) (command, []string, error) {
	var known, second []string
	for _, c := range commands() {
		words := strings.Fields(c.name)
		if len(args) >= len(words) && slices.Equal(words, args[:len(words)]) {
			return c, args[len(words):], nil
		}
		if words[0] == args[0] {
			second = append(second, words[1])
		}
		if !slices.Contains(known, words[0]) {
			known = append(known, words[0])
		}
	}
	switch {
	case len(second) > 0 && len(args) == 1:
		return command{}, nil, usagef("%s needs one of: %s", args[0], strings.Join(second, ", "))
	case len(second) > 0:
		return command{}, nil, usagef("unknown command %q of %s; known: %s", args[1], args[0], strings.Join(second, ", "))
	}
	return command{}, nil, usagef("unknown command %q; known: %s, help", args[0], strings.Join(known, ", "))
}

func (c command) flagSet() (*flag.FlagSet, action) {
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return fs, c.flags(fs)
}

func (c command) checkArgs(args []string) error {
	want := strings.Fields(c.args)
	many := len(want) > 0 && strings.Contains(want[len(want)-1], "...")
	optional := strings.HasPrefix(c.args, "[")
	switch {
	case len(args) < len(want) && !optional:
		return usagef("%s needs %s", c.name, c.args)
	case len(args) > len(want) && !many:
		return usagef("%s does not know what to do with %q", c.name, args[len(want)])
	}
	return nil
}

func (p *program) usage(w io.Writer) {
	fmt.Fprint(w, "Tekrar runs background jobs for Go programs on Postgres.\n\nUsage: tekrar COMMAND [flags]\n\n")
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, c := range commands() {
		fmt.Fprintf(t, "  %s\t%s\n", strings.TrimSpace(c.name+" "+c.args), c.summary)
	}
	t.Flush()
	fmt.Fprint(w, "\ntekrar help COMMAND lists the flags of one.\n")
}

// help prints the whole table, or one command with its flags.
func (p *program) help(args []string) error {
	if len(args) == 0 {
		p.usage(p.stdout)
		return nil
	}
	cmd, _, err := find(args)
	if err != nil {
		return err
	}
	fs, _ := cmd.flagSet()
	cmd.bind(fs, &config{}, nil)
	fmt.Fprintf(p.stdout, "Usage: tekrar %s [flags]\n\n%s.\n\n", strings.TrimSpace(cmd.name+" "+cmd.args), capital(cmd.summary))
	t := tabwriter.NewWriter(p.stdout, 0, 0, 3, ' ', 0)
	fs.VisitAll(func(f *flag.Flag) { fmt.Fprintf(t, "  --%s\t%s\n", f.Name, f.Usage) })
	return t.Flush()
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
