package main

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"

	"github.com/tekrar/tekrar/web/redact"
)

// config is what the settings table was read into.
type config struct {
	database, schema     string
	addr, prefix         string
	auth, user, password string
	usersFile, users     string
	proxyHeader          string
	proxyRoleHeader      string
	proxyRole            string
	trustedProxies       []netip.Prefix
	redact               *redact.Rules // nil: the default ones
	metricsToken         string
	data                 string
	ephemeral            bool
	workers              int
	traffic              float64
	webhook              string
	log                  *slog.Level // nil: not given
}

func (cmd command) takes(setting string) bool { return slices.Contains(cmd.settings, setting) }

// bind adds the command's settings to its flags. Values are kept in given, by name.
func (cmd command) bind(fs *flag.FlagSet, c *config, given map[string]bool) {
	for _, s := range settings {
		if !cmd.takes(s.name) || s.envOnly {
			continue
		}
		help := s.help + " (" + s.env
		if s.value != "" {
			help += ", default " + s.value
		}
		set := func(v string) error { given[s.name] = true; return s.set(c, v) }
		if s.bool {
			fs.BoolFunc(s.name, help+")", set)
		} else {
			fs.Func(s.name, help+")", set)
		}
	}
}

// configure reads defaults, environment and flags of one command, and gives back the
// positional arguments. Flags may stand before and after those, until "--".
func (p *program) configure(cmd command, fs *flag.FlagSet, args []string) (config, []string, error) {
	var c config
	given := map[string]bool{}
	cmd.bind(fs, &c, given)
	for _, s := range settings {
		if err := s.set(&c, s.value); err != nil && s.value != "" {
			return c, nil, fmt.Errorf("default of %s: %w", s.name, err)
		}
	}
	var positional []string
	for len(args) > 0 {
		if err := fs.Parse(args); err != nil {
			return c, nil, flagError(cmd, fs, err)
		}
		rest := fs.Args()
		if parsed := args[:len(args)-len(rest)]; len(parsed) > 0 && parsed[len(parsed)-1] == "--" {
			positional = append(positional, rest...)
			break
		}
		if len(rest) == 0 {
			break
		}
		positional, args = append(positional, rest[0]), rest[1:]
	}
	for _, s := range settings {
		v := p.getenv(s.env)
		if v == "" || given[s.name] || !cmd.takes(s.name) {
			continue
		}
		if err := s.set(&c, v); err != nil {
			if s.name == "database" || s.envOnly {
				return c, nil, usagef("%s: %v", s.env, err) // never repeats a password
			}
			return c, nil, usagef("%s is %q: %v", s.env, v, err)
		}
	}
	p.warnUnknown()
	return c, positional, nil
}

// warnUnknown names mistyped variables. It refuses nothing: Kubernetes gives
// TEKRAR_PORT, TEKRAR_SERVICE_HOST and more to every pod beside a service "tekrar".
func (p *program) warnUnknown() {
	known := []string{"TEKRAR_POSTGRES_BIN"} // read where Postgres is looked for
	for _, s := range settings {
		known = append(known, s.env)
	}
	for _, e := range p.environ {
		name, _, _ := strings.Cut(e, "=")
		if !strings.HasPrefix(name, "TEKRAR_") || slices.Contains(known, name) ||
			strings.HasPrefix(name, "TEKRAR_TEST_") || strings.HasPrefix(name, "TEKRAR_SERVICE_") || strings.HasPrefix(name, "TEKRAR_PORT") {
			continue
		}
		fmt.Fprintf(p.stderr, "tekrar: %s is no setting and is ignored; known: %s\n", plain(name), strings.Join(known, ", "))
	}
}

// flagError says in one sentence what flag.Parse says in a page.
func flagError(cmd command, fs *flag.FlagSet, err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	const unknown = "flag provided but not defined: -"
	text := err.Error()
	name, found := strings.CutPrefix(text, unknown)
	if !found {
		return usagef("%s: %s", cmd.name, strings.Replace(text, " flag -", " flag --", 1))
	}
	var known []string
	fs.VisitAll(func(f *flag.Flag) { known = append(known, "--"+f.Name) })
	if len(known) == 0 {
		return usagef("%s: unknown flag --%s; it takes none", cmd.name, name)
	}
	return usagef("%s: unknown flag --%s; known: %s", cmd.name, name, strings.Join(known, ", "))
}

func (p *program) getenv(name string) string {
	for _, e := range slices.Backward(p.environ) {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}
