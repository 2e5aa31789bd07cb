package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

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
