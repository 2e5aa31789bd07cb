package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// isTerminal reports that a person is at the other end of a stream.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (p *program) atTerminal(stream any) bool {
	if p.terminal != nil {
		return p.terminal(stream)
	}
	return isTerminal(stream)
}

var errDeclined = errors.New("not confirmed: nothing was changed")

// confirm asks before what cannot be taken back. In a script, where stdin is no
// terminal, the call itself is the decision.
func (p *program) confirm(ctx context.Context, yes bool, format string, args ...any) error {
	if yes || !p.atTerminal(p.stdin) {
		return nil
	}
	fmt.Fprintf(p.stderr, "%s Go on? [y/N] ", plain(fmt.Sprintf(format, args...)))
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(p.stdin).ReadString('\n')
		answer <- line
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case line := <-answer:
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return nil
		}
		return errDeclined
	}
}

// working says on a terminal what takes long, and for how long it has. stop clears
// the line. On no terminal it writes nothing.
func (p *program) working(what string) (stop func()) {
	if !p.atTerminal(p.stderr) || p.getenv("TERM") == "dumb" {
		return func() {}
	}
	began, end, ended := time.Now(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for wrote := 0; ; {
			select {
			case <-end:
				fmt.Fprintf(p.stderr, "\r%s\r", strings.Repeat(" ", wrote))
				return
			case <-tick.C:
				line := fmt.Sprintf("%s: %s", plain(what), time.Since(began).Round(time.Second))
				fmt.Fprintf(p.stderr, "\r%s", line)
				wrote = len(line)
			}
		}
	}()
	return func() { close(end); <-ended }
}
