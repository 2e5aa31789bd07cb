package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// Every example of the help is a call that this program understands.
func TestExamplesAreUnderstood(t *testing.T) {
	t.Parallel()
	for _, c := range commands() {
		if len(examples[c.name]) == 0 {
			t.Errorf("%s has no example", c.name)
		}
		for _, line := range examples[c.name] {
			_, call, ok := strings.Cut(line, "tekrar ")
			if !ok {
				t.Errorf("%s: %q does not call tekrar", c.name, line)
				continue
			}
			call, _, _ = strings.Cut(call, " | ")
			call, _, _ = strings.Cut(call, " > ")
			call, _, _ = strings.Cut(call, " >> ")
			out, err := exec.Command("sh", "-c", `for a in "$@"; do :; done; eval "set -- $1"; printf '%s\n' "$@"`, "sh", call).Output()
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			args := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
			found, rest, err := find(args)
			if err != nil || found.name != c.name {
				t.Errorf("%s: finds %q, %v", line, found.name, err)
				continue
			}
			fs, _ := found.flagSet()
			p := &program{stdout: io.Discard, stderr: io.Discard}
			_, positional, err := p.configure(found, fs, rest)
			if err == nil {
				err = found.checkArgs(positional)
			}
			if err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	for name := range examples {
		if _, _, err := find(strings.Fields(name)); err != nil {
			t.Errorf("examples of %q, which is no command", name)
		}
	}
}

func TestHelpShowsExamplesAndExitCodes(t *testing.T) {
	t.Parallel()
	for _, c := range commands() {
		out := tekrar(t, nil, append([]string{"help"}, strings.Fields(c.name)...)...).wantDone(t)
		for _, w := range []string{"Usage: tekrar " + c.name, "Examples:\n  ", examples[c.name][0], exitCodes} {
			if !strings.Contains(out, w) {
				t.Errorf("help %s lacks %q:\n%s", c.name, w, out)
			}
		}
	}
	if !strings.Contains(readme(t), exitCodes) {
		t.Errorf("README.md lacks %q", exitCodes)
	}
}

// What takes and gives data must do so for machines, too.
func TestEveryCommandHasJSON(t *testing.T) {
	t.Parallel()
	without := []string{"demo", "serve", "migrate print", "bench", "completion", "users hash"}
	for _, c := range commands() {
		fs, _ := c.flagSet()
		if has := fs.Lookup("json") != nil; has == contains(without, c.name) {
			t.Errorf("%s: --json is %v", c.name, has)
		}
	}
}

func contains(all []string, one string) bool {
	for _, a := range all {
		if a == one {
			return true
		}
	}
	return false
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		out := tekrar(t, nil, "completion", shell).wantDone(t)
		for _, w := range []string{"mark-delivered", "dry-run", "doctor", "trusted-proxies"} {
			if !strings.Contains(out, w) {
				t.Errorf("%s lacks %s", shell, w)
			}
		}
		path, err := exec.LookPath(shell)
		if err != nil {
			continue // not installed here
		}
		check := exec.Command(path, "-n")
		check.Stdin = strings.NewReader(out)
		if said, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", shell, err, said)
		}
	}
	tekrar(t, nil, "completion", "tcsh").wantFailure(t, 2, "tcsh", "bash, zsh, fish")
}

func TestBashCompletes(t *testing.T) {
	t.Parallel()
	script := tekrar(t, nil, "completion", "bash").wantDone(t)
	for line, want := range map[string]string{
		"tekrar doc":                             "doctor",
		"tekrar claims mark-n":                   "mark-not-delivered",
		"tekrar jobs requeue 7 --fr":             "--fresh",
		"tekrar queues --schema x pause mail --": "--database --json --log --schema",
		"tekrar completion f":                    "fish",
	} {
		words := strings.Split(line, " ")
		cmd := exec.Command("bash", "-c", script+"\nCOMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _tekrar; echo \"${COMPREPLY[*]}\"", "bash")
		cmd.Args = append(cmd.Args, words...)
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%s: %q, want %q, %v", line, got, want, err)
		}
	}
}

// LIF-11: what cannot be taken back is asked for at a terminal, and only there.
func TestConfirmation(t *testing.T) {
	t.Parallel()
	env := onDatabase(t)
	tekrar(t, env, "jobs", "enqueue", "k", `{}`).wantDone(t)
	typed := func(answer string, args ...string) result {
		var out, errs bytes.Buffer
		p := &program{stdin: strings.NewReader(answer), stdout: &out, stderr: &errs, environ: env, terminal: func(s any) bool { _, isIn := s.(*strings.Reader); return isIn }}
		return result{p.run(t.Context(), args), out.String(), errs.String()}
	}
	for _, answer := range []string{"", "n\n", "nonsense\n", "yess\n"} {
		typed(answer, "jobs", "delete", "1").wantFailure(t, 1, "not confirmed", "nothing was changed")
	}
	if out := tekrar(t, env, "jobs", "show", "1").wantDone(t); !strings.Contains(out, "enqueued since") {
		t.Errorf("deleted without a yes: %s", out)
	}
	r := typed("Y\n", "jobs", "delete", "1")
	if r.wantDone(t); !strings.Contains(r.err, "1 jobs will be deleted: 1. Go on? [y/N]") || r.out != "job 1: now deleted\n" {
		t.Errorf("stdout %q, stderr %q", r.out, r.err)
	}
	typed("", "jobs", "requeue", "1").wantDone(t)
	typed("", "jobs", "delete", "--yes", "1").wantDone(t)
}

type tick struct{ Token string }

func (tick) Kind() string { return "tick" }

// a client on the database of an environment.
func clientOf(t *testing.T, env []string) *jobs.Client {
	t.Helper()
	db := storetest.Open(t, strings.TrimPrefix(env[0], "DATABASE_URL="), store.Options{})
	client, err := jobs.New(db, jobs.Config{Workers: 1, Lease: 2 * time.Second, Heartbeat: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// LIF-11
func TestRecurringCommands(t *testing.T) {
	t.Parallel()
	env := onDatabase(t)
	client := clientOf(t, env)
	err := client.SaveRecurring(t.Context(), "ada", jobs.RecurringSpec{ID: "nightly \u202e 1", Kind: "tick", Spec: "0 3 * * *", Zone: "Europe/Berlin", Args: json.RawMessage(`{"token":"s3cret","n":1970670598291982290}`)})
	if err != nil {
		t.Fatal(err)
	}
	id := "nightly \u202e 1"
	for _, step := range []struct {
		args []string
		want string
	}{
		{[]string{"recurring", "list"}, `nightly \u202e 1`},
		{[]string{"recurring", "show", id}, "1970670598291982290"},
		{[]string{"recurring", "pause", id}, `recurring nightly \u202e 1: paused`},
		{[]string{"recurring", "list", "--json"}, `"state": "paused"`},
		{[]string{"recurring", "show", id}, "by " + actor()},
		{[]string{"recurring", "resume", id, "--json"}, `"now": "resumed"`},
		{[]string{"recurring", "run", id}, "job 1 enqueued"},
		{[]string{"recurring", "show", id, "--json"}, `"job_id": "1"`},
		{[]string{"recurring", "remove", id}, "removed"},
		{[]string{"recurring", "list"}, "removed"},
	} {
		out := tekrar(t, env, step.args...).wantDone(t)
		if !strings.Contains(out, step.want) || strings.Contains(out, "s3cret") || strings.ContainsRune(out, 0x202e) {
			t.Errorf("%q lacks %q, or shows a secret or a control character:\n%s", step.args, step.want, out)
		}
	}
	if out := tekrar(t, append(env, "TEKRAR_REDACT=none"), "recurring", "show", id).wantDone(t); !strings.Contains(out, "s3cret") {
		t.Errorf("redact none still hides: %s", out)
	}
	tekrar(t, env, "recurring", "run", id).wantFailure(t, 1, "removed")
	tekrar(t, env, "recurring", "pause", "other").wantFailure(t, 1, `"other"`, "not found")
	rows, _, err := client.DB().AuditRows(t.Context(), store.AuditFilter{Actor: actor()})
	if err != nil || len(rows) != 4 {
		t.Errorf("audit has %d rows, %v", len(rows), err)
	}
}

func TestQueuesAndServers(t *testing.T) {
	t.Parallel()
	env := onDatabase(t)
	if out := tekrar(t, env, "queues", "pause", "a/b \u202e").wantDone(t); out != "queue a/b \\u202e: paused\n" {
		t.Errorf("pause: %q", out)
	}
	if out := tekrar(t, env, "queues", "list").wantDone(t); !strings.Contains(out, `a/b \u202e`) || !strings.Contains(out, "by "+actor()) {
		t.Errorf("list: %s", out)
	}
	tekrar(t, env, "queues", "resume", "a/b \u202e", "--json").wantDone(t)
	if out := tekrar(t, env, "queues", "list", "--json").wantDone(t); !strings.Contains(out, `"paused_at": null`) {
		t.Errorf("list: %s", out)
	}
	client := clientOf(t, env)
	jobs.Handle(client, func(context.Context, *jobs.Job[tick]) error { return nil })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- client.Run(ctx) }()
	for poll := time.Tick(20 * time.Millisecond); !strings.Contains(tekrar(t, env, "servers", "list", "--json").wantDone(t), `"state": "live"`); <-poll {
	}
	cancel()
	<-done
	if out := tekrar(t, env, "servers", "list").wantDone(t); !strings.Contains(out, "stopped") {
		t.Errorf("servers: %s", out)
	}
}

func TestClaimsCommands(t *testing.T) {
	t.Parallel()
	env := onDatabase(t)
	db := clientOf(t, env).DB()
	claims, err := idempotency.New(db, idempotency.Config{StaleAfter: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	key := idempotency.NewKey("invoice-email", 42)
	done := idempotency.NewKey("done", 1)
	if _, err := claims.Claim(t.Context(), nil, key); err != nil {
		t.Fatal(err)
	}
	if _, err := claims.Do(t.Context(), done, func(context.Context, *idempotency.Claim) (any, error) {
		return map[string]string{"reference": "r-1", "access_token": "s3cret"}, nil
	}); err != nil {
		t.Fatal(err)
	}
	var list struct{ Claims []struct{ Key, Token string } }
	if err := json.Unmarshal([]byte(tekrar(t, env, "claims", "list", "--json").wantDone(t)), &list); err != nil || len(list.Claims) != 1 {
		t.Fatalf("claims: %+v, %v", list, err)
	}
	k := list.Claims[0].Key
	tekrar(t, env, "claims", "reclaim", k, "--token", "999999").wantFailure(t, 1, "its token is "+list.Claims[0].Token)
	for poll := time.Tick(50 * time.Millisecond); !strings.Contains(tekrar(t, env, "claims", "list").wantDone(t), "holder gone"); <-poll {
	}
	if out := tekrar(t, env, "claims", "reclaim", k, "--note", "host is off").wantDone(t); out != "claim "+k+": reclaimed\n" {
		t.Errorf("reclaim: %s", out)
	}
	tekrar(t, env, "claims", "reclaim", k).wantFailure(t, 1, "nothing was changed")
	if out := tekrar(t, env, "claims", "show", k).wantDone(t); !strings.Contains(out, "released") || !strings.Contains(out, "EARLIER HOLDERS, oldest first (1)") {
		t.Errorf("show: %s", out)
	}
	var settled struct{ Claims []struct{ Key string } }
	out := tekrar(t, env, "claims", "list", "--tab", "done", "--json").wantDone(t)
	if err := json.Unmarshal([]byte(out), &settled); err != nil || len(settled.Claims) != 1 || strings.Contains(out, "s3cret") || !strings.Contains(out, "r-1") {
		t.Fatalf("done: %s, %v", out, err)
	}
	if out := tekrar(t, env, "claims", "send-again", settled.Claims[0].Key).wantDone(t); !strings.Contains(out, "to be sent again") {
		t.Errorf("send again: %s", out)
	}
	if out := tekrar(t, env, "claims", "purge", "--dry-run", "--window", "1h").wantDone(t); !strings.Contains(out, "0 claims would be removed") {
		t.Errorf("dry run: %s", out)
	}
	if out := tekrar(t, env, "claims", "purge", "--json").wantDone(t); !strings.Contains(out, `"removed": 0`) {
		t.Errorf("purge: %s", out)
	}
	tekrar(t, env, "claims", "purge", "--window", "1m", "--dry-run").wantFailure(t, 1, "1h")
	tekrar(t, env, "claims", "show", "nothing").wantFailure(t, 1, "not found")
	tekrar(t, env, "claims", "list", "--tab", "dead").wantFailure(t, 2, "--tab", "unsettled, unknown, done, released")
	rows, _, err := db.AuditRows(t.Context(), store.AuditFilter{Actor: actor()})
	if err != nil || len(rows) != 3 {
		t.Errorf("audit has %d rows, want reclaim, send again and purge: %+v, %v", len(rows), rows, err)
	}
}
