package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func deployFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// understoodBy checks what a container or unit runs, and that the variables which it
// sets are settings of that command.
func understoodBy(t *testing.T, where string, args, env []string) {
	t.Helper()
	cmd, rest, err := find(args)
	if err != nil {
		t.Errorf("%s: %v: %v", where, args, err)
		return
	}
	if err := understood(strings.Join(args, " ")); err != nil {
		t.Errorf("%s: %v: %v", where, rest, err)
	}
	for _, name := range env {
		i := slices.IndexFunc(settings, func(s setting) bool { return s.env == name })
		if i < 0 || !cmd.takes(settings[i].name) {
			t.Errorf("%s: %s is no setting of tekrar %s", where, name, cmd.name)
		}
	}
}

type composeService struct {
	Image string
	Build struct {
		Context string
		Args    map[string]string
	}
	Command     []string
	Environment map[string]string
	DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
	Ports       []string
}

func TestComposeUsesWhatThereIs(t *testing.T) {
	t.Parallel()
	var file struct {
		Services map[string]composeService
		Volumes  map[string]any
	}
	if err := yaml.Unmarshal([]byte(deployFile(t, "docs/deploy/compose.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	ours := 0
	for name, s := range file.Services {
		for other := range s.DependsOn {
			if _, ok := file.Services[other]; !ok {
				t.Errorf("%s depends on %s, which is not there", name, other)
			}
		}
		for _, port := range s.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s is open to everybody: %s", name, port)
			}
		}
		if s.Build.Context == "" {
			continue
		}
		ours++
		if _, err := os.Stat("../../docs/deploy/" + s.Build.Context + "/Dockerfile"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for arg := range s.Build.Args {
			if !strings.Contains(deployFile(t, "Dockerfile"), "\nARG "+arg+"=") {
				t.Errorf("%s: the Dockerfile takes no %s", name, arg)
			}
		}
		var env []string
		for variable, value := range s.Environment {
			if variable == "PGPASSWORD" { // of Postgres, see store.Open
				continue
			}
			env = append(env, variable)
			if variable == "DATABASE_URL" {
				if err := databaseURL(value); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		understoodBy(t, name, s.Command, env)
	}
	if ours != 2 || len(file.Services) != 3 {
		t.Errorf("%d services, %d of them ours: %v", len(file.Services), ours, file.Services)
	}
}

func TestUnitUsesWhatThereIs(t *testing.T) {
	t.Parallel()
	unit := deployFile(t, "docs/deploy/tekrar.service")
	values := map[string][]string{}
	for line := range strings.Lines(unit) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(line, "#") {
			values[key] = append(values[key], value)
		}
	}
	env := []string{"DATABASE_URL", "TEKRAR_PASSWORD"} // of the file that docs/deploy.md writes
	for _, e := range values["Environment"] {
		name, value, _ := strings.Cut(e, "=")
		env = append(env, name)
		if name == "TEKRAR_ADDR" && address(value) != nil {
			t.Errorf("TEKRAR_ADDR is %q", value)
		}
	}
	_, args, _ := strings.Cut(values["ExecStart"][0], "/tekrar ")
	understoodBy(t, "ExecStart", strings.Fields(args), env)
	_, args, _ = strings.Cut(values["ExecStartPre"][0], "/tekrar ")
	understoodBy(t, "ExecStartPre", strings.Fields(args), []string{"DATABASE_URL"})
	for _, e := range env[:2] {
		if !strings.Contains(deployFile(t, "docs/deploy.md"), e+"=%s") {
			t.Errorf("docs/deploy.md does not write %s", e)
		}
	}
}

// Every manifest on the page is YAML, and what it runs is understood.
func TestKubernetesManifestsUseWhatThereIs(t *testing.T) {
	t.Parallel()
	n := 0
	for _, p := range docs(t) {
		for _, b := range p.blocks {
			if b.language != "yaml" {
				continue
			}
			var root any
			if err := yaml.Unmarshal([]byte(b.text), &root); err != nil {
				t.Errorf("%s: %v\n%s", p.path, err, b.text)
			}
			walkContainers(root, func(args, env []string) {
				n++
				understoodBy(t, p.path, args, env)
			})
			for _, m := range regexp.MustCompile(`(?m)(?:^|[ {])path: (/[a-z]+)`).FindAllStringSubmatch(b.text, -1) {
				if m[1] != "/healthz" && m[1] != "/readyz" {
					t.Errorf("%s: a probe asks %s", p.path, m[1])
				}
			}
		}
	}
	if n != 2 {
		t.Errorf("%d containers were found", n)
	}
}

// walkContainers finds maps with args, wherever they are.
func walkContainers(v any, found func(args, env []string)) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			walkContainers(one, found)
		}
	case map[string]any:
		if list, ok := v["args"].([]any); ok {
			var args, env []string
			for _, a := range list {
				args = append(args, a.(string))
			}
			all, _ := v["env"].([]any)
			for _, e := range all {
				env = append(env, e.(map[string]any)["name"].(string))
			}
			found(args, env)
		}
		for _, one := range v {
			walkContainers(one, found)
		}
	}
}

func TestDockerfileUsesWhatThereIs(t *testing.T) {
	t.Parallel()
	file := deployFile(t, "Dockerfile")
	final := file[strings.LastIndex(file, "\nFROM "):]
	for _, want := range []string{"FROM scratch", "USER 65532:65532", "ca-certificates.crt", `CMD ["/tekrar", "healthcheck"]`, `ENTRYPOINT ["/tekrar"]`} {
		if !strings.Contains(final, want) {
			t.Errorf("the image lacks %s", want)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^ENV (\w+)=(.*)$`).FindAllStringSubmatch(final, -1) {
		understoodBy(t, "Dockerfile", []string{"serve"}, []string{m[1]})
		understoodBy(t, "Dockerfile", []string{"healthcheck"}, []string{m[1]})
	}
	if !strings.Contains(file, "-X main.commit=$COMMIT") || !strings.Contains(deployFile(t, "docs/deploy.md"), "--build-arg COMMIT=") {
		t.Error("the image does not know its commit")
	}
}
