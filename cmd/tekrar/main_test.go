package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/store/storetest"
)

func TestMain(m *testing.M) {
	code := storetest.Run(m)
	os.RemoveAll(binaryDir)
	os.Exit(code)
}

type result struct {
	code     int
	out, err string
}

// tekrar runs the program inside the test, with this environment and nothing else.
func tekrar(t *testing.T, env []string, args ...string) result {
	t.Helper()
	return tekrarUntil(t.Context(), env, args...)
}

func tekrarUntil(ctx context.Context, env []string, args ...string) result {
	var out, err bytes.Buffer
	p := &program{stdout: &out, stderr: &err, environ: env}
	code := p.run(ctx, args)
	return result{code, out.String(), err.String()}
}

// wantFailure checks the exit code and that stderr is one line with all of the words.
func (r result) wantFailure(t *testing.T, code int, words ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d; stderr: %s", r.code, code, r.err)
	}
	last := strings.Split(strings.TrimSpace(r.err), "\n")
	for _, w := range words {
		if !strings.Contains(last[len(last)-1], w) {
			t.Errorf("stderr lacks %q: %s", w, r.err)
		}
	}
}

func (r result) wantDone(t *testing.T) string {
	t.Helper()
	if r.code != 0 {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	return r.out
}

// onDatabase is the environment of a program that uses a fresh, migrated database.
func onDatabase(t *testing.T) []string { return []string{"DATABASE_URL=" + storetest.DSN(t)} }

// asURL writes a key=value address as a URL.
func asURL(dsn, scheme string) string {
	value := func(key string) string {
		all := regexp.MustCompile(key+`='?([^' ]+)'?`).FindAllStringSubmatch(dsn, -1)
		return all[len(all)-1][1] // the last one counts
	}
	return scheme + ":///" + value("dbname") + "?host=" + value("host") + "&port=" + value("port") +
		"&user=" + value("user") + "&sslmode=disable"
}

// LIF-10
func TestUnknownIsRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		env   []string
		args  []string
		words []string
	}{
		{"no command", nil, nil, []string{"a command is needed"}},
		{"command", nil, []string{"demmo"}, []string{`unknown command "demmo"`, "demo", "serve", "migrate", "jobs"}},
		{"second word", nil, []string{"jobs", "lst"}, []string{`unknown command "lst" of jobs`, "list", "requeue"}},
		{"second word missing", nil, []string{"migrate"}, []string{"migrate needs one of: up, status, print"}},
		{"flag", nil, []string{"demo", "--adr", "x"}, []string{"unknown flag --adr", "--addr", "--ephemeral"}},
		{"flag of another command", nil, []string{"migrate", "up", "--addr", ":1"}, []string{"unknown flag --addr", "--schema"}},
		{"flag where none is", nil, []string{"completion", "--x"}, []string{"unknown flag --x", "takes none"}},
		{"flag value", nil, []string{"demo", "--workers", "many"}, []string{"--workers", `"many"`, "1 to 500"}},
		{"flag without value", nil, []string{"demo", "--addr"}, []string{"-addr"}},
		{"environment value", []string{"TEKRAR_WORKERS=0"}, []string{"demo"}, []string{"TEKRAR_WORKERS", `"0"`, "1 to 500"}},
		{"environment choice", []string{"TEKRAR_AUTH=ldap"}, []string{"serve"}, []string{"TEKRAR_AUTH", `"ldap"`, "basic, proxy-header, none"}},
		{"environment truth", []string{"TEKRAR_EPHEMERAL=perhaps"}, []string{"demo"}, []string{"TEKRAR_EPHEMERAL", "true or false"}},
		{"log level", nil, []string{"demo", "--log", "loud"}, []string{"--log", `"loud"`, "debug, info, warn, error"}},
		{"database scheme", []string{"DATABASE_URL=mysql://u:secret@h/d"}, []string{"migrate", "up"}, []string{"DATABASE_URL", "postgres://", "postgresql://"}},
		{"no database", nil, []string{"migrate", "up"}, []string{"no database", "DATABASE_URL"}},
		{"address", nil, []string{"demo", "--addr", "8080"}, []string{"--addr", `"8080"`, "host:port"}},
		{"port", nil, []string{"demo", "--addr", "127.0.0.1:99999"}, []string{"--addr", "0 to 65535"}},
		{"argument too many", nil, []string{"version", "now"}, []string{`"now"`}},
		{"argument missing", nil, []string{"jobs", "show"}, []string{"jobs show needs ID"}},
		{"id", []string{"DATABASE_URL=postgres://h/d"}, []string{"jobs", "show", "seven"}, []string{`"seven"`, "whole number"}},
		{"state", []string{"DATABASE_URL=postgres://h/d"}, []string{"jobs", "list", "--state", "dead"}, []string{"--state", `"dead"`, "succeeded"}},
		{"short password", []string{"TEKRAR_PASSWORD=hunter2"}, []string{"serve", "--auth", "basic"}, []string{"TEKRAR_PASSWORD", "7 bytes", "8"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := tekrar(t, tt.env, tt.args...)
			r.wantFailure(t, 2, tt.words...)
			if r.out != "" && len(tt.args) > 0 {
				t.Errorf("stdout: %s", r.out)
			}
			for _, secret := range []string{"secret", "hunter2"} {
				if strings.Contains(r.err, secret) {
					t.Errorf("stderr shows a password: %s", r.err)
				}
			}
		})
	}
}

// LIF-10
func TestDatabaseThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	down := []string{"DATABASE_URL=postgres://nobody:secret@127.0.0.1:1/none?sslmode=disable"}
	for _, args := range [][]string{{"migrate", "up"}, {"jobs", "list"}, {"demo", "--addr", "127.0.0.1:0"}, {"serve", "--auth", "none", "--addr", "127.0.0.1:0"}} {
		r := tekrar(t, down, args...)
		r.wantFailure(t, 1, "DATABASE_URL", "127.0.0.1", "refused")
		if strings.Contains(r.err, "secret") {
			t.Errorf("stderr shows the password: %s", r.err)
		}
	}
	empty := []string{"DATABASE_URL=" + storetest.EmptyDSN(t)}
	tekrar(t, empty, "jobs", "list").wantFailure(t, 1, "schema", "tekrar migrate up")
	tekrar(t, empty, "serve", "--auth", "none", "--addr", "127.0.0.1:0").wantFailure(t, 1, "tekrar migrate up")
}

// LIF-10
func TestBothSchemesOfAddress(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"postgres", "postgresql"} {
		env := []string{"DATABASE_URL=" + asURL(storetest.DSN(t), scheme)}
		if out := tekrar(t, env, "jobs", "list", "--json").wantDone(t); !strings.Contains(out, `"jobs": []`) {
			t.Errorf("%s: %s", scheme, out)
		}
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"help"}, {"--help"}, {"-h"}} {
		out := tekrar(t, nil, args...).wantDone(t)
		for _, c := range commands() {
			if !strings.Contains(out, c.name) {
				t.Errorf("%v lacks %s", args, c.name)
			}
		}
	}
	for _, args := range [][]string{{"help", "demo"}, {"demo", "--help"}, {"demo", "-h"}} {
		out := tekrar(t, nil, args...).wantDone(t)
		for _, w := range []string{"--addr", "TEKRAR_ADDR", "127.0.0.1:8080", "--ephemeral"} {
			if !strings.Contains(out, w) {
				t.Errorf("%v lacks %s:\n%s", args, w, out)
			}
		}
	}
	tekrar(t, nil, "help", "nothing").wantFailure(t, 2, "unknown command")
	if out := tekrar(t, nil, "version").wantDone(t); !strings.HasPrefix(out, "tekrar ") {
		t.Errorf("version: %s", out)
	}
}
