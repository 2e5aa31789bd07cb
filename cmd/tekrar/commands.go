package main

import (
	"context"
	"flag"
	"io"
	"strings"
)

// command is one row of the program's table. Its settings can be given as flags or
// in the environment; flags adds what only it knows and returns what it does.
// Its examples are in examples.go.
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
	showing := append([]string{"redact"}, database...)
	serving := append([]string{"addr", "auth", "user", "password", "users-file", "users", "proxy-header", "proxy-role-header", "proxy-role", "trusted-proxies", "prefix", "metrics-token"}, showing...)
	demo := append([]string{"data", "ephemeral", "workers", "traffic", "webhook"}, serving...)
	return []command{
		{"demo", "", "run the bookstore: Postgres, workers and dashboard in one process", demo, plainAction(runDemo)},
		{"serve", "", "serve the dashboard of a database; runs no jobs", serving, plainAction(runServe)},
		{"migrate up", "", "bring the schema to this program's version", database, migrateUp},
		{"migrate status", "", "list the migrations and when they were applied", database, migrateStatus},
		{"migrate print", "", "write the migrations' SQL, for somebody who applies it by hand", database, plainAction(migratePrint)},
		{"jobs list", "", "list the jobs in one state", showing, jobsList},
		{"jobs show", "ID", "show a job with its history", showing, jobsShow},
		{"jobs requeue", "[ID...]", "run jobs again that are not running: these, or with --all those of a filter", showing, jobsRequeue},
		{"jobs cancel", "ID...", "ask running jobs to end; one that then fails is deleted, not retried", database, jobsCancel},
		{"jobs delete", "[ID...]", "delete jobs, these or with --all those of a filter; a running one is asked to stop", showing, jobsDelete},
		{"jobs enqueue", "KIND ARGS", "enqueue a job; ARGS is a JSON object", database, jobsEnqueue},
		{"recurring list", "", "list recurring jobs and their next fires", showing, recurringList},
		{"recurring show", "ID", "show a recurring job with its last fires", showing, recurringShow},
		{"recurring run", "ID", "enqueue one job of it now; its next fire stays", database, recurringRun},
		{"recurring pause", "ID", "stop it from firing until it is resumed", database, recurringPause},
		{"recurring resume", "ID", "let it fire again", database, recurringResume},
		{"recurring remove", "ID", "stop it for good; code that declares it brings it back", database, recurringRemove},
		{"claims list", "", "list the claims of effects", showing, claimsList},
		{"claims show", "KEY", "show a claim with its earlier holders and late receipts", showing, claimsShow},
		{"claims reclaim", "KEY", "take a claim from a holder that is gone", database, claimsReclaim},
		{"claims mark-delivered", "KEY", "record that the effect happened", database, claimsDelivered},
		{"claims mark-not-delivered", "KEY", "record that the effect did not happen; the key is free again", database, claimsNotDelivered},
		{"claims send-again", "KEY", "free the key for a second effect on purpose", database, claimsAgain},
		{"claims purge", "", "remove settled claims that were not used for a time", database, claimsPurge},
		{"queues list", "", "list queues with their depth and who works on them", database, queuesList},
		{"queues pause", "NAME", "stop claims from a queue; running jobs go on", database, queuesPause},
		{"queues resume", "NAME", "let claims from a queue go on", database, queuesResume},
		{"servers list", "", "list the processes that run jobs, and those of the last 24 hours", database, serversList},
		{"doctor", "", "look for what is wrong with the database and the servers, and say what to do", database, doctor},
		{"users hash", "NAME ROLE", "write a line of the users file; reads the password from stdin", nil, plainAction(usersHash)},
		{"bench", "[NAME...]", "measure the engine: enqueue-bulk, enqueue-single, drain, latency, bytes, held, procs, aged, steady, steady-aged; or chaos: prove it under faults", database[:1], benchCommand},
		{"healthcheck", "", "ask a running program for its health", []string{"addr", "prefix"}, healthcheck},
		{"completion", "SHELL", "write the completion script of bash, zsh or fish", nil, plainAction(completion)},
		{"version", "", "print the version", nil, printVersion},
	}
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
