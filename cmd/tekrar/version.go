package main

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
)

func printVersion(fs *flag.FlagSet) action {
	asJSON := fs.Bool("json", false, "one JSON object: version, go, platform")
	return func(_ context.Context, p *program, _ config, _ []string) error {
		if *asJSON {
			return writeJSON(p.stdout, map[string]string{"version": version(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH})
		}
		_, err := fmt.Fprintf(p.stdout, "tekrar %s (%s, %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return err
	}
}

// version is the module's version, which the Go tool takes from the tag or commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
