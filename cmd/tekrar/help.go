package main

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// exitCodes are told by help and the README alike.
const exitCodes = "Exit codes: 0 done, 1 it failed, 2 it was called in a way it does not know, 130 a second Ctrl-C ended it at once."

func (p *program) usage(w io.Writer) {
	fmt.Fprint(w, "Tekrar runs background jobs for Go programs on Postgres.\n\nUsage: tekrar COMMAND [flags]\n\n")
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, c := range commands() {
		fmt.Fprintf(t, "  %s\t%s\n", strings.TrimSpace(c.name+" "+c.args), c.summary)
	}
	t.Flush()
	fmt.Fprintf(w, `
tekrar help COMMAND lists the flags of one and shows examples.

Results go to stdout, everything else to stderr. No colours are written, so NO_COLOR
changes nothing; control characters in names and errors are shown as escapes. --json
writes JSON in which ids are text. What cannot be taken back is asked for when stdin is
a terminal; --yes answers beforehand.

%s
`, exitCodes)
}

// help prints the whole table, or one command with its flags and examples.
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
	for _, s := range settings {
		if s.envOnly && cmd.takes(s.name) {
			fmt.Fprintf(t, "  %s\t%s\n", s.env, s.help)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprint(p.stdout, "\nExamples:\n")
	for _, e := range examples[cmd.name] {
		fmt.Fprintf(p.stdout, "  %s\n", e)
	}
	_, err = fmt.Fprintf(p.stdout, "\n%s\n", exitCodes)
	return err
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
