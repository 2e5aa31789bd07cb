package main

import (
	"bytes"
	"strings"
	"testing"
)

// configured reads the settings of one command.
func configured(t *testing.T, env []string, args ...string) (config, []string) {
	t.Helper()
	p := &program{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}, environ: env}
	cmd, rest, err := find(args)
	if err != nil {
		t.Fatal(err)
	}
	fs, _ := cmd.flagSet()
	c, positional, err := p.configure(cmd, fs, rest)
	if err != nil {
		t.Fatal(err)
	}
	return c, positional
}

func TestFlagBeatsEnvironmentBeatsDefault(t *testing.T) {
	t.Parallel()
	if c, _ := configured(t, nil, "demo"); c.addr != "127.0.0.1:8080" || c.workers != 10 || c.schema != "tekrar" {
		t.Errorf("defaults: %+v", c)
	}
	env := []string{"TEKRAR_ADDR=127.0.0.1:1", "TEKRAR_WORKERS=", "TEKRAR_EPHEMERAL=true"}
	if c, _ := configured(t, env, "demo"); c.addr != "127.0.0.1:1" || c.workers != 10 || !c.ephemeral {
		t.Errorf("environment: %+v", c)
	}
	if c, _ := configured(t, env, "demo", "--addr", "127.0.0.1:2", "-workers=7"); c.addr != "127.0.0.1:2" || c.workers != 7 {
		t.Errorf("flags: %+v", c)
	}
}

func TestFlagsStandAnywhere(t *testing.T) {
	t.Parallel()
	c, args := configured(t, nil, "jobs", "delete", "1", "--schema", "other", "2", "--", "--3")
	if c.schema != "other" || strings.Join(args, " ") != "1 2 --3" {
		t.Errorf("schema %q, args %q", c.schema, args)
	}
}

func TestMistypedVariableIsNamed(t *testing.T) {
	t.Parallel()
	r := tekrar(t, []string{"TEKRAR_ADR=x", "TEKRAR_PORT_8080_TCP=tcp://10.0.0.1:8080", "TEKRAR_SERVICE_HOST=10.0.0.1"}, "version")
	if r.code != 0 || !strings.Contains(r.err, "TEKRAR_ADR is no setting") || strings.Contains(r.err, "PORT_8080") {
		t.Errorf("code %d: %s", r.code, r.err)
	}
}

func TestAccessIsADecision(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"serve without one", []string{"serve", "--addr", "127.0.0.1:0"}, "--auth is needed"},
		{"none for everybody", []string{"serve", "--auth", "none", "--addr", "0.0.0.0:0"}, "loopback only"},
		{"none on all addresses", []string{"demo", "--auth", "none", "--addr", ":0"}, "loopback only"},
		{"demo for everybody", []string{"demo", "--addr", "0.0.0.0:0"}, "--auth basic"},
		{"basic without password", []string{"demo", "--auth", "basic", "--addr", "127.0.0.1:0"}, "TEKRAR_PASSWORD"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tekrar(t, []string{"DATABASE_URL=postgres://127.0.0.1:1/x"}, tt.args...).wantFailure(t, 2, tt.want)
		})
	}
}

func TestAddressThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	ln, err := listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	taken := ln.Addr().String()
	tekrar(t, nil, "demo", "--addr", taken).wantFailure(t, 1, taken, "taken", "--addr")
	tekrar(t, nil, "demo", "--addr", "192.0.2.1:0").wantFailure(t, 1, "192.0.2.1:0", "no address of this machine")
	tekrar(t, nil, "healthcheck", "--addr", "127.0.0.1:1").wantFailure(t, 1, "no answer")
}

func TestNearby(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"0.0.0.0:80": "127.0.0.1:80", ":80": "127.0.0.1:80", "[::]:80": "[::1]:80",
		"127.0.0.1:80": "127.0.0.1:80", "example.com:80": "example.com:80",
	} {
		if got := nearby(addr); got != want {
			t.Errorf("nearby(%q) = %q, want %q", addr, got, want)
		}
	}
}
