package main

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// config is what the settings table was read into.
type config struct {
	database, schema     string
	addr, prefix         string
	auth, user, password string
	data                 string
	ephemeral            bool
	workers              int
	traffic              float64
	log                  *slog.Level // nil: not given
}

// setting can be given as a flag and in the environment; the flag wins. An empty
// variable counts as not set.
type setting struct {
	name  string // the flag, or only a name when envOnly
	env   string
	value string // the default
	help  string
	bool  bool
	// envOnly: a flag's value can be seen by everybody who lists processes.
	envOnly bool
	set     func(*config, string) error
}

// settings is the one table of everything that can be configured.
var settings = []setting{
	{name: "database", env: "DATABASE_URL", help: "Postgres to use, postgres:// or postgresql://; the demo starts its own when there is none",
		set: func(c *config, s string) error { c.database = s; return databaseURL(s) }},
	{name: "schema", env: "TEKRAR_SCHEMA", value: "tekrar", help: "schema that holds Tekrar's tables",
		set: func(c *config, s string) error { c.schema = s; return length(s, 1, 63) }},
	{name: "addr", env: "TEKRAR_ADDR", value: "127.0.0.1:8080", help: "address of the dashboard; port 0 takes a free one",
		set: func(c *config, s string) error { c.addr = s; return address(s) }},
	{name: "prefix", env: "TEKRAR_PREFIX", help: "path under which the dashboard is served, such as /ops/jobs; empty is the root",
		set: func(c *config, s string) error { c.prefix = strings.TrimSuffix(s, "/"); return prefix(c.prefix) }},
	{name: "auth", env: "TEKRAR_AUTH", help: "who may use the dashboard: basic (user and password), or none (loopback only; the demo's default)",
		set: func(c *config, s string) error { c.auth = s; return oneOf(s, "", "basic", "none") }},
	{name: "user", env: "TEKRAR_USER", value: "admin", help: "user name for basic",
		set: func(c *config, s string) error { c.user = s; return userName(s) }},
	{name: "password", env: "TEKRAR_PASSWORD", help: "password for basic, at least 8 bytes", envOnly: true,
		set: func(c *config, s string) error { c.password = s; return passwordLength(s) }},
	{name: "data", env: "TEKRAR_DATA_DIR", help: "folder of the demo's own Postgres; empty is the user's data folder",
		set: func(c *config, s string) error { c.data = s; return nil }},
	{name: "ephemeral", env: "TEKRAR_EPHEMERAL", value: "false", help: "throw the demo's data away at the end", bool: true,
		set: func(c *config, s string) (err error) { c.ephemeral, err = truth(s); return err }},
	{name: "workers", env: "TEKRAR_WORKERS", value: "10", help: "how many jobs the demo runs at once, 1 to 500",
		set: func(c *config, s string) (err error) { c.workers, err = number(s, 1, 500); return err }},
	{name: "traffic", env: "TEKRAR_TRAFFIC", value: "3", help: "jobs a second that the demo enqueues by itself, 0 to 100",
		set: func(c *config, s string) (err error) { c.traffic, err = rate(s, 0, 100); return err }},
	{name: "log", env: "TEKRAR_LOG", help: "least level to log: debug, info, warn, error; empty is warn, in the demo error",
		set: func(c *config, s string) error {
			if err := oneOf(s, "", "debug", "info", "warn", "error"); err != nil || s == "" {
				return err
			}
			c.log = new(slog.Level)
			return c.log.UnmarshalText([]byte(s))
		}},
}

// bind adds the command's settings to its flags. Values are kept in given, by name.
func (cmd command) bind(fs *flag.FlagSet, c *config, given map[string]bool) {
	for _, s := range settings {
		if !slices.Contains(cmd.settings, s.name) || s.envOnly {
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
		if v == "" || given[s.name] || !slices.Contains(cmd.settings, s.name) {
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
