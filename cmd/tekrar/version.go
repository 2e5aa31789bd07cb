package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
)

// commit is set by -ldflags "-X main.commit=..." where a build sees no repository, as
// in a container. Elsewhere the Go tool knows it.
var commit string

func printVersion(fs *flag.FlagSet) action {
	asJSON := fs.Bool("json", false, "one JSON object: version, commit, changed, go, platform")
	return func(_ context.Context, p *program, _ config, _ []string) error {
		b, platform := thisBuild(), runtime.GOOS+"/"+runtime.GOARCH
		if *asJSON {
			return writeJSON(p.stdout, map[string]any{
				"version": b.version, "commit": b.commit, "changed": b.changed, "go": runtime.Version(), "platform": platform,
			})
		}
		_, err := fmt.Fprintf(p.stdout, "tekrar %s (%s, %s, %s)\n", b.version, b.from(), runtime.Version(), platform)
		return err
	}
}

// version is the module's version, which the Go tool takes from the tag or commit.
func version() string { return thisBuild().version }

// build is where the program comes from.
type build struct {
	version string
	commit  string // "" when nobody knows
	changed bool   // the sources differed from the commit
}

func thisBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildOf(info, commit)
}

func buildOf(info *debug.BuildInfo, told string) build {
	b := build{version: cmp.Or(info.Main.Version, "(devel)"), commit: told}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.commit = cmp.Or(told, s.Value)
		case "vcs.modified":
			b.changed = s.Value == "true"
		}
	}
	return b
}

func (b build) from() string {
	if b.commit == "" {
		return "commit unknown"
	}
	from := "commit " + b.commit
	if b.changed {
		from += " with changes"
	}
	return from
}
