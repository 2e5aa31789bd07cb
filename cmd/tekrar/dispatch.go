package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"

	"github.com/tekrar/tekrar/cmd/tekrar/bench"
)

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
	if args[0] == bench.WorkerCommand {
		return p.runBenchWorker(ctx, os.Stdin, args[1:])
	}
	if args[0] == bench.ChaosWorkerCommand {
		return p.runChaosWorker(ctx, os.Stdin, args[1:])
	}
	if args[0] == bench.SoakCommand {
		return p.runSoak(ctx, os.Stdin, args[1:])
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
