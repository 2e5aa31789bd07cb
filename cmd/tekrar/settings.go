package main

import (
	"log/slog"
	"strings"

	"github.com/tekrar/tekrar/web/redact"
)

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
	{name: "auth", env: "TEKRAR_AUTH", help: "who may use the dashboard: basic (users with passwords), proxy-header (a proxy names them), or none (loopback only; the demo's default)",
		set: func(c *config, s string) error { c.auth = s; return oneOf(s, "", "basic", "proxy-header", "none") }},
	{name: "user", env: "TEKRAR_USER", value: "admin", help: "name of the one user whose password is in TEKRAR_PASSWORD, an admin",
		set: func(c *config, s string) error { c.user = s; return userName(s) }},
	{name: "password", env: "TEKRAR_PASSWORD", help: "password of that user, at least 8 bytes", envOnly: true,
		set: func(c *config, s string) error { c.password = s; return passwordLength(s) }},
	{name: "users-file", env: "TEKRAR_USERS_FILE", help: "file of users for basic, each line NAME:HASH:ROLE with a bcrypt hash and viewer, operator or admin; tekrar users hash writes lines",
		set: func(c *config, s string) error { c.usersFile = s; return nil }},
	{name: "users", env: "TEKRAR_USERS", help: "such lines, separated by commas or line ends", envOnly: true,
		set: func(c *config, s string) error { c.users = strings.ReplaceAll(s, ",", "\n"); return nil }},
	{name: "proxy-header", env: "TEKRAR_PROXY_HEADER", help: "header in which a trusted proxy names the user, such as X-Remote-User",
		set: func(c *config, s string) error { c.proxyHeader = s; return nil }},
	{name: "proxy-role-header", env: "TEKRAR_PROXY_ROLE_HEADER", help: "header in which it names the role; empty gives everybody the role of --proxy-role",
		set: func(c *config, s string) error { c.proxyRoleHeader = s; return nil }},
	{name: "proxy-role", env: "TEKRAR_PROXY_ROLE", value: "viewer", help: "role of those whom the proxy lets in without a role header: viewer, operator or admin",
		set: func(c *config, s string) error { c.proxyRole = s; return oneOf(s, "viewer", "operator", "admin") }},
	{name: "trusted-proxies", env: "TEKRAR_TRUSTED_PROXIES", help: "addresses or networks of the proxies whose headers count, separated by commas: 10.0.0.7,10.1.0.0/16",
		set: func(c *config, s string) (err error) { c.trustedProxies, err = networks(s); return err }},
	{name: "redact", env: "TEKRAR_REDACT", help: "keys (api_key) and paths (customer.iban) whose values are shown as •••, separated by commas; none hides nothing; empty is a list of usual names: " + strings.Join(redact.DefaultKeys, ", "),
		set: func(c *config, s string) (err error) { c.redact, err = redactRules(s); return err }},
	{name: "metrics-token", env: "TEKRAR_METRICS_TOKEN", help: "token with which a scraper reads /metrics, and nothing else, at least 8 bytes; empty: a viewer's login opens it", envOnly: true,
		set: func(c *config, s string) error { c.metricsToken = s; return passwordLength(s) }},
	{name: "data", env: "TEKRAR_DATA_DIR", help: "folder of the demo's own Postgres; empty is the user's data folder",
		set: func(c *config, s string) error { c.data = s; return nil }},
	{name: "ephemeral", env: "TEKRAR_EPHEMERAL", value: "false", help: "throw the demo's data away at the end", bool: true,
		set: func(c *config, s string) (err error) { c.ephemeral, err = truth(s); return err }},
	{name: "workers", env: "TEKRAR_WORKERS", value: "10", help: "how many jobs the demo runs at once, 1 to 500",
		set: func(c *config, s string) (err error) { c.workers, err = number(s, 1, 500); return err }},
	{name: "traffic", env: "TEKRAR_TRAFFIC", value: "3", help: "jobs a second that the demo enqueues by itself, 0 to 100",
		set: func(c *config, s string) (err error) { c.traffic, err = rate(s, 0, 100); return err }},
	{name: "webhook", env: "TEKRAR_WEBHOOK", help: "http:// or https:// address that the demo tells, once an episode, when first attempts succeed less often than usual", envOnly: true,
		set: func(c *config, s string) error { c.webhook = s; return webAddress(s) }},
	{name: "log", env: "TEKRAR_LOG", help: "least level to log: debug, info, warn, error; empty is warn, in the demo error",
		set: func(c *config, s string) error {
			if err := oneOf(s, "", "debug", "info", "warn", "error"); err != nil || s == "" {
				return err
			}
			c.log = new(slog.Level)
			return c.log.UnmarshalText([]byte(s))
		}},
}
