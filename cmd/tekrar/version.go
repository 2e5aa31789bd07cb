package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
)

func printVersion(_ context.Context, p *program, _ config, _ []string) error {
	_, err := fmt.Fprintf(p.stdout, "tekrar %s (%s, %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// version is the module's version, which the Go tool takes from the tag or commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
