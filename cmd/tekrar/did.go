package main

import (
	"fmt"
	"os/user"
)

// actor is the name that history and audit keep for what is done from a shell.
func actor() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username + " (tekrar)"
	}
	return "tekrar"
}

// did reports an action on one named thing.
func (p *program) did(asJSON bool, what, name, now string) error {
	if asJSON {
		return writeJSON(p.stdout, map[string]string{what: name, "now": now})
	}
	_, err := fmt.Fprintf(p.stdout, "%s %s: %s\n", what, plain(name), now)
	return err
}
