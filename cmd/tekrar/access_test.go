package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/tekrar/tekrar/web"
)

// hashed runs users hash with a password on stdin.
func hashed(t *testing.T, password string, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	p := &program{stdin: strings.NewReader(password), stdout: &out, stderr: &errs}
	return result{p.run(t.Context(), append([]string{"users", "hash"}, args...)), out.String(), errs.String()}
}

func TestUsersHash(t *testing.T) {
	t.Parallel()
	out := hashed(t, "correct horse\n", "ada", "operator").wantDone(t)
	all, err := web.ParseUsers(out)
	if err != nil || len(all) != 1 || all[0].Name != "ada" || all[0].Role != web.Operator {
		t.Fatalf("%q: %+v, %v", out, all, err)
	}
	if bcrypt.CompareHashAndPassword([]byte(all[0].Hash), []byte("correct horse")) != nil {
		t.Error("the hash is of something else")
	}
	hashed(t, "short\n", "ada", "operator").wantFailure(t, 2, "5 bytes", "8 to 72")
	hashed(t, "", "ada", "operator").wantFailure(t, 2, "0 bytes")
	hashed(t, "long enough", "ada", "root").wantFailure(t, 2, `"root"`, "viewer, operator or admin")
	hashed(t, "long enough", "a:b", "viewer").wantFailure(t, 2, "colon")
	hashed(t, "long enough", "#ada", "viewer").wantFailure(t, 2, "NAME")
}

// Settings that contradict each other, and secrets that cannot be read.
func TestAccessThatMakesNoSense(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	line := hashed(t, "correct horse", "ada", "admin").wantDone(t)
	good, open := file("good", line, 0o600), file("open", line, 0o666)
	bad, empty := file("bad", "ada:hunter2222:admin\n", 0o600), file("empty", "# nobody\n", 0o600)
	for _, tt := range []struct {
		name string
		env  []string
		args []string
		want string
	}{
		{"no file", nil, []string{"--auth", "basic", "--users-file", filepath.Join(dir, "none")}, "no such file"},
		{"a folder", nil, []string{"--auth", "basic", "--users-file", dir}, "is no file"},
		{"everybody writes it", nil, []string{"--auth", "basic", "--users-file", open}, "written by everybody"},
		{"no hash", nil, []string{"--auth", "basic", "--users-file", bad}, "line 1"},
		{"nobody in it", nil, []string{"--auth", "basic", "--users-file", empty}, "no user"},
		{"two sources", []string{"TEKRAR_PASSWORD=correct horse"}, []string{"--auth", "basic", "--users-file", good}, "contradict"},
		{"users and a password", []string{"TEKRAR_PASSWORD=correct horse", "TEKRAR_USERS=" + strings.TrimSpace(line)}, []string{"--auth", "basic"}, "contradict"},
		{"none with users", nil, []string{"--auth", "none", "--users-file", good}, "contradicts"},
		{"none with a proxy", nil, []string{"--auth", "none", "--proxy-header", "X-User"}, "contradicts"},
		{"basic with a proxy", []string{"TEKRAR_PASSWORD=correct horse"}, []string{"--auth", "basic", "--proxy-header", "X-User"}, "contradicts"},
		{"proxy with users", nil, []string{"--auth", "proxy-header", "--proxy-header", "X-User", "--users-file", good}, "contradicts"},
		{"proxy without header", nil, []string{"--auth", "proxy-header"}, "--proxy-header"},
		{"proxy from anywhere", nil, []string{"--auth", "proxy-header", "--proxy-header", "X-User"}, "--trusted-proxies"},
		{"proxy from the world", nil, []string{"--auth", "proxy-header", "--proxy-header", "X-User", "--trusted-proxies", "0.0.0.0/0"}, "everybody"},
		{"proxy network", nil, []string{"--auth", "proxy-header", "--proxy-header", "X-User", "--trusted-proxies", "10.0.0.0/33"}, "10.0.0.0/33"},
		{"proxy role", nil, []string{"--auth", "proxy-header", "--proxy-role", "root"}, "viewer, operator, admin"},
		{"a header of browsers", nil, []string{"--auth", "proxy-header", "--proxy-header", "Cookie", "--trusted-proxies", "10.0.0.7"}, "Cookie"},
		{"too long a password", []string{"TEKRAR_PASSWORD=" + strings.Repeat("x", 73)}, []string{"--auth", "basic"}, "8 to 72"},
		{"redaction", nil, []string{"--auth", "none", "--redact", "a..b"}, "a..b"},
		{"public without a decision", nil, []string{"--addr", ":0"}, "--auth is needed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"serve", "--addr", "127.0.0.1:0"}, tt.args...)
			r := tekrar(t, append(tt.env, "DATABASE_URL=postgres://127.0.0.1:1/x"), args...)
			r.wantFailure(t, 2, tt.want)
			for _, secret := range []string{"hunter2222", "correct horse", "$2a$"} {
				if strings.Contains(r.err, secret) {
					t.Errorf("stderr shows a secret: %s", r.err)
				}
			}
		})
	}
	tekrar(t, nil, "demo", "--addr", ":0", "--users-file", good).wantFailure(t, 2, "decision", "--auth basic")
	// A file that is right gets as far as the database.
	for _, args := range [][]string{
		{"--auth", "basic", "--users-file", good},
		{"--auth", "proxy-header", "--proxy-header", "X-Remote-User", "--trusted-proxies", "10.0.0.7, ::1,10.1.0.0/16"},
	} {
		tekrar(t, []string{"DATABASE_URL=postgres://127.0.0.1:1/x?sslmode=disable"}, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...).wantFailure(t, 1, "refused")
	}
}
