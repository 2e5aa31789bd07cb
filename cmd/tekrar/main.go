// Command tekrar runs the demo, serves the dashboard of any database with Tekrar's
// schema, migrates it, and works on jobs from the shell.
//
// Exit codes: 0 done, 1 it failed, 2 it was asked for in a way it does not know,
// 130 a second Ctrl-C ended it at once.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/tekrar/tekrar/store"
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	p := &program{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ()}
	go func() {
		<-signals
		cancel()
		<-signals // a second Ctrl-C ends at once
		p.leave()
		os.Exit(exitInterrupted)
	}()
	os.Exit(p.run(ctx, os.Args[1:]))
}

// exitInterrupted is what shells give to a program ended by Ctrl-C.
const exitInterrupted = 130

// program is one run of the command; tests make their own.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string       // as os.Environ
	terminal       func(any) bool // that a stream is one; nil: ask the system
	bar            atomic.Pointer[bar]
}

// usageError is a mistake in how the program was called: exit code 2.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// run gives the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	err := p.dispatch(ctx, args)
	if store.IsReadOnly(err) {
		err = fmt.Errorf("the database takes no writes, as a replica does: use the primary's address: %w", err)
	}
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		fmt.Fprintln(p.stderr, "tekrar: "+plain(err.Error()))
		return 2
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(p.stderr, "tekrar: interrupted")
		return 1
	default:
		fmt.Fprintln(p.stderr, "tekrar: "+plain(err.Error()))
		return 1
	}
}
