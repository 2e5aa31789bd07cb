package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// page is one of the Markdown files that people read.
type page struct {
	path   string // from the top of the repository
	text   string
	blocks []codeBlock
	prose  string // without the blocks
}

type codeBlock struct {
	language string
	text     string
}

var fence = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

// docs reads docs/*.md and the pages at the top.
func docs(t *testing.T) []page {
	t.Helper()
	inside, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(inside) < 10 {
		t.Fatalf("docs has %d pages: %v", len(inside), err)
	}
	outside, err := filepath.Glob("../../*.md")
	if err != nil || len(outside) < 4 {
		t.Fatalf("%d pages at the top: %v", len(outside), err)
	}
	var pages []page
	for _, file := range append(inside, outside...) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p := page{path: strings.TrimPrefix(filepath.ToSlash(file), "../../"), text: string(b)}
		for _, m := range fence.FindAllStringSubmatch(p.text, -1) {
			p.blocks = append(p.blocks, codeBlock{m[1], m[2]})
		}
		p.prose = fence.ReplaceAllString(p.text, "")
		if strings.Contains(p.prose, "```") {
			t.Errorf("%s: a code block does not end", p.path)
		}
		pages = append(pages, p)
	}
	return pages
}

func TestDocsAreShort(t *testing.T) {
	t.Parallel()
	for _, p := range docs(t) {
		if n := strings.Count(p.text, "\n"); strings.HasPrefix(p.path, "docs/") && n > 150 {
			t.Errorf("%s has %d lines; at most 150 are read", p.path, n)
		}
	}
}

// Every command that a page shows is one that this program understands.
func TestDocsCommandsAreUnderstood(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, p := range docs(t) {
		for _, b := range p.blocks {
			if b.language != "sh" {
				continue
			}
			for line := range strings.Lines(b.text) {
				call, ok := callOf(line)
				if !ok {
					continue
				}
				seen++
				if err := understood(call); err != nil {
					t.Errorf("%s: %s: %v", p.path, strings.TrimSpace(line), err)
				}
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d commands were found: the search is broken", seen)
	}
	for _, wrong := range []string{"jobs lisst", "jobs requeue 1 --frsh", "queues pause", "serve --auth sesame"} {
		if understood(wrong) == nil {
			t.Errorf("%q passes for understood", wrong)
		}
	}
}

var called = regexp.MustCompile(`(?:^|[ /=])tekrar ((?:[a-z]|--).*)$`)

// callOf gives the arguments of a line that runs the program.
func callOf(line string) (string, bool) {
	line = strings.TrimSpace(line)
	m := called.FindStringSubmatch(line)
	for _, other := range []string{"#", "systemctl", "docker", "install", "curl"} {
		if strings.HasPrefix(line, other) {
			return "", false
		}
	}
	if m == nil {
		return "", false
	}
	call := m[1]
	for _, end := range []string{" | ", " > ", " >> ", " && ", " # "} {
		call, _, _ = strings.Cut(call, end)
	}
	return call, true
}

// understood lets the shell split a call and the program read it.
func understood(call string) error {
	out, err := exec.Command("sh", "-c", `eval "set -- $1"; printf '%s\n' "$@"`, "sh", call).Output()
	if err != nil {
		return err
	}
	cmd, rest, err := find(strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"))
	if err != nil {
		return err
	}
	fs, _ := cmd.flagSet()
	_, positional, err := (&program{stdout: io.Discard, stderr: io.Discard}).configure(cmd, fs, rest)
	if err != nil {
		return err
	}
	return cmd.checkArgs(positional)
}

var (
	mdLink  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// anchors are the headings of a page as links name them.
func anchors(p page) []string {
	var all []string
	for _, m := range heading.FindAllStringSubmatch(p.prose, -1) {
		slug := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127 && r != '…' && r != '–':
				return r
			}
			return -1
		}, strings.ToLower(m[1]))
		all = append(all, slug)
	}
	return all
}

func TestDocsLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	pages := docs(t)
	for _, p := range pages {
		for _, m := range mdLink.FindAllStringSubmatch(p.prose, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			to := filepath.ToSlash(filepath.Join(filepath.Dir(p.path), target))
			if target == "" {
				to = p.path
			}
			if _, err := os.Stat(filepath.Join("../..", to)); err != nil {
				t.Errorf("%s: link to %s: %v", p.path, m[1], err)
			}
			i := slices.IndexFunc(pages, func(q page) bool { return q.path == to })
			if anchor != "" && (i < 0 || !slices.Contains(anchors(pages[i]), anchor)) {
				t.Errorf("%s: link to %s: no such heading", p.path, m[1])
			}
		}
	}
}

var (
	variable = regexp.MustCompile(`\bTEKRAR_[A-Z_]+\b`)
	flagName = regexp.MustCompile("`(--[a-z-]+)`")
)

// Settings and flags that the text names exist.
func TestDocsNameRealSettings(t *testing.T) {
	t.Parallel()
	known := []string{"TEKRAR_POSTGRES_BIN", "TEKRAR_PORT", "TEKRAR_RECORD", "TEKRAR_SERVICE_HOST", "TEKRAR_TEST_DATABASE_URL", storetest.NoListen}
	for _, s := range settings {
		known = append(known, s.env, "--"+s.name)
	}
	for _, c := range commands() {
		fs, _ := c.flagSet()
		known = append(known, flagsOf(fs)...)
	}
	for _, p := range docs(t) {
		for _, name := range variable.FindAllString(p.text, -1) {
			if !slices.Contains(known, name) {
				t.Errorf("%s: %s is no setting", p.path, name)
			}
		}
		for _, m := range flagName.FindAllStringSubmatch(p.prose, -1) {
			if !slices.Contains(known, m[1]) {
				t.Errorf("%s: no command takes %s", p.path, m[1])
			}
		}
	}
}

var addresses = regexp.MustCompile(`postgres(?:ql)?://[^\s'"` + "`" + `]+`)

func TestDocsAddressesAreRead(t *testing.T) {
	t.Parallel()
	n := 0
	for _, p := range docs(t) {
		for _, b := range p.blocks {
			for _, address := range addresses.FindAllString(b.text, -1) {
				n++
				if db, err := store.Open(address, store.Options{}); err != nil {
					t.Errorf("%s: %s: %v", p.path, address, err)
				} else {
					db.Close()
				}
			}
		}
	}
	if n < 3 {
		t.Errorf("only %d addresses were found", n)
	}
}

func TestDocsStateTheTrueWindow(t *testing.T) {
	t.Parallel()
	low, high := jobs.DefaultRetry().Window()
	thousands := func(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }
	seconds := thousands(int(low.Seconds())) + ".." + thousands(int(high.Seconds()))
	for _, p := range docs(t) {
		switch p.path {
		case "docs/retries.md":
			if !strings.Contains(p.text, seconds) || !strings.Contains(p.text, minutes(low)+" to "+minutes(high)) {
				t.Errorf("%s must say %s seconds, %s to %s", p.path, seconds, minutes(low), minutes(high))
			}
		case "docs/coming-from.md":
			if !strings.Contains(p.text, minutes(low)+" to "+minutes(high)) {
				t.Errorf("%s must say %s to %s", p.path, minutes(low), minutes(high))
			}
		}
	}
}
