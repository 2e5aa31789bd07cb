package pgtemp

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

const downloadVersion = embeddedpostgres.V18

// cacheDir keeps downloaded binaries. As root it lies where user postgres can reach it.
func cacheDir() string {
	if os.Geteuid() == 0 {
		return "/var/cache/tekrar"
	}
	if d, err := os.UserCacheDir(); err == nil {
		return filepath.Join(d, "tekrar")
	}
	return filepath.Join(os.TempDir(), "tekrar-cache")
}

// download fetches the binaries once into cache. embedded-postgres offers no
// call that only downloads, and handed a data folder of another version it
// wipes it. So it gets a data folder whose removal os.RemoveAll refuses
// (a path that ends in "."): it fetches, unpacks and stops there.
// repository is the Maven repository; "" means the library's default.
func download(ctx context.Context, cache, repository string) (binaries, error) {
	target := filepath.Join(cache, "postgres-"+string(downloadVersion))
	if b, err := look(ctx, filepath.Join(target, "bin")); err == nil {
		return b, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return binaries{}, fmt.Errorf("download Postgres: %w", err)
	}
	// Unpacked aside and renamed, since half an installation would look whole.
	work, err := os.MkdirTemp(cache, "partial-")
	if err != nil {
		return binaries{}, fmt.Errorf("download Postgres: %w", err)
	}
	cfg := embeddedpostgres.DefaultConfig().Version(downloadVersion).Port(0).
		CachePath(work).RuntimePath(filepath.Join(work, "run")).
		BinariesPath(filepath.Join(work, "unpacked")).
		DataPath(filepath.Join(work, "data") + string(filepath.Separator) + ".").
		StartTimeout(time.Second).Logger(io.Discard)
	if repository != "" {
		cfg = cfg.BinaryRepositoryURL(repository)
	}
	done := make(chan error, 1)
	go func() {
		defer os.RemoveAll(work)
		done <- fetch(cfg, filepath.Join(work, "unpacked"), target)
	}()
	select {
	case err = <-done:
	case <-ctx.Done():
		// The library takes no context; it ends by itself and cleans up.
		return binaries{}, fmt.Errorf("download Postgres: %w", ctx.Err())
	}
	if err != nil {
		return binaries{}, fmt.Errorf("download Postgres: %w", err)
	}
	return look(ctx, filepath.Join(target, "bin"))
}

func fetch(cfg embeddedpostgres.Config, unpacked, target string) (err error) {
	defer func() {
		if r := recover(); r != nil { // the library panics on a full disk
			err = fmt.Errorf("unpack: %v", r)
		}
	}()
	startErr := embeddedpostgres.NewDatabase(cfg).Start()
	if _, err := os.Stat(filepath.Join(unpacked, "bin", "postgres")); err != nil {
		return startErr
	}
	if err := os.Chmod(unpacked, 0o755); err != nil {
		return err
	}
	if err := os.Rename(unpacked, target); err != nil && !os.IsExist(err) {
		return err
	}
	return nil
}
