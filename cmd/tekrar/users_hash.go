package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/tekrar/tekrar/web"
)

// usersHash reads the password from stdin, never from an argument, which everybody
// who lists processes could see.
func usersHash(_ context.Context, p *program, _ config, args []string) error {
	role, err := web.ParseRole(args[1])
	if err != nil {
		return usagef("%v", err)
	}
	if err := userName(args[0]); err != nil {
		return usagef("NAME %v", err)
	}
	password, err := p.readPassword()
	if err != nil {
		return err
	}
	hash, err := web.HashPassword(password)
	if err != nil {
		return usagef("%v", err)
	}
	line := fmt.Sprintf("%s:%s:%s", args[0], hash, role)
	if _, err := web.ParseUsers(line); err != nil {
		return usagef("NAME: %v", err)
	}
	_, err = fmt.Fprintln(p.stdout, line)
	return err
}

// readPassword does not echo on a terminal; elsewhere it takes the first line.
func (p *program) readPassword() (string, error) {
	if f, ok := p.stdin.(*os.File); ok && p.atTerminal(f) {
		fmt.Fprint(p.stderr, "Password: ")
		b, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(p.stderr)
		return string(b), err
	}
	if p.stdin == nil {
		return "", errors.New("read the password: stdin is closed")
	}
	line, err := bufio.NewReader(io.LimitReader(p.stdin, 4096)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}
