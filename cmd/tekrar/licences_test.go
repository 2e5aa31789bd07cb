package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var writeLicences = flag.Bool("write-licences", false, "write docs/licences.md")

const licencesPage = "../../docs/licences.md"

// licences that may be linked into an MIT program without further duties than to keep
// their text.
var licences = []struct {
	name string
	text *regexp.Regexp
}{
	{"Apache-2.0", regexp.MustCompile(`(?s)Apache License\s+Version 2\.0`)},
	{"BSD-3-Clause", regexp.MustCompile(`(?s)Redistribution and use in source and binary forms.*(?:endorse or promote|nor the names)`)},
	{"BSD-2-Clause", regexp.MustCompile(`Redistribution and use in source and binary forms`)},
	{"MIT", regexp.MustCompile(`Permission is hereby granted, free of charge`)},
	{"ISC", regexp.MustCompile(`Permission to use, copy, modify, and(?:/or)? distribute`)},
	{"Public domain", regexp.MustCompile(`(?i)public domain`)},
}

type linked struct{ path, version, licence string }

// linkedModules are those of which packages are in the program, with their licences,
// from the module cache.
func linkedModules(t *testing.T) []linked {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=Module", "./cmd/tekrar", "./jobs/...", "./web/...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []linked
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			Module *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Module == nil || p.Module.Main {
			continue
		}
		m := linked{path: p.Module.Path, version: p.Module.Version}
		if slices.ContainsFunc(all, func(l linked) bool { return l.path == m.path }) {
			continue
		}
		m.licence = licenceOf(p.Module.Dir)
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b linked) int { return strings.Compare(a.path, b.path) })
	return all
}

func licenceOf(dir string) string {
	for _, pattern := range []string{"LICENSE*", "LICENCE*", "License*", "license*", "COPYING*"} {
		files, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				continue
			}
			if names := licencesIn(string(b)); names != "" {
				return names
			}
		}
	}
	return ""
}

// licencesIn names what stands in a text, in its order: some modules hold parts of others.
func licencesIn(text string) string {
	at := map[string]int{}
	for _, l := range licences {
		if where := l.text.FindStringIndex(text); where != nil {
			at[l.name] = where[0]
		}
	}
	if _, three := at["BSD-3-Clause"]; three {
		delete(at, "BSD-2-Clause")
	}
	if len(at) > 1 {
		delete(at, "Public domain")
	}
	names := slices.Collect(maps.Keys(at))
	slices.SortFunc(names, func(a, b string) int { return at[a] - at[b] })
	return strings.Join(names, ", ")
}

// docs/licences.md lists what is linked in; `make licences` writes it.
func TestLicencesAreListed(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	page.WriteString("# Licences\n\nTekrar is under the [MIT licence](../LICENSE). These modules are linked into its program or packages; " +
		"each one's licence is in its source. `make licences` writes this page, a test compares it.\n\n| module | version | licence |\n|---|---|---|\n")
	for _, m := range linkedModules(t) {
		if m.licence == "" {
			t.Errorf("%s has no licence that is known to be fine", m.path)
		}
		fmt.Fprintf(&page, "| [%s](https://pkg.go.dev/%s) | %s | %s |\n", m.path, m.path, m.version, m.licence)
	}
	page.WriteString("\nThe dashboard's script is [idiomorph](https://github.com/bigskysoftware/idiomorph) beside our own; its version, licence and checksum are in `static/vendor`.\n")
	if *writeLicences {
		if err := os.WriteFile(licencesPage, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(licencesPage)
	if err != nil || string(got) != page.String() {
		t.Errorf("docs/licences.md is not up to date: run make licences (%v)", err)
	}
}
