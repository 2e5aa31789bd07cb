package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const oldest = 14

// usualFolders hold Postgres where packages put it without touching PATH.
var usualFolders = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/lib/postgresql*/bin",
	"/usr/libexec/postgresql*",
	"/usr/pgsql-*/bin",
	"/usr/local/pgsql/bin",
	"/opt/homebrew/opt/postgresql*/bin",
	"/usr/local/opt/postgresql*/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
}

// binaries is one installation of Postgres.
type binaries struct {
	dir   string // holds postgres and initdb
	major int
}

func (b binaries) path(name string) string { return filepath.Join(b.dir, name) }

var versionLine = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// look reads the version of the installation in dir.
func look(ctx context.Context, dir string) (binaries, error) {
	// Symlinks in /usr/local/bin would hide the folder that postgres finds its library by.
	if real, err := filepath.EvalSymlinks(filepath.Join(dir, "postgres")); err == nil {
		dir = filepath.Dir(real)
	}
	b := binaries{dir: dir}
	if _, err := os.Stat(b.path("initdb")); err != nil {
		return b, fmt.Errorf("no initdb in %s", dir)
	}
	out, err := exec.CommandContext(ctx, b.path("postgres"), "--version").Output()
	if err != nil {
		return b, fmt.Errorf("run %s --version: %w", b.path("postgres"), err)
	}
	m := versionLine.FindSubmatch(out)
	if m == nil {
		return b, fmt.Errorf("%s --version printed %q", b.path("postgres"), strings.TrimSpace(string(out)))
	}
	b.major, _ = strconv.Atoi(string(m[1]))
	if b.major < oldest {
		return b, fmt.Errorf("%s is Postgres %d; %d or newer is needed", b.path("postgres"), b.major, oldest)
	}
	return b, nil
}

// finder knows where to look for Postgres and where to fetch it from.
type finder struct {
	folders    []string // patterns
	cache      string   // holds what was downloaded
	repository string   // Maven repository; "" means the downloader's own
}

func defaultFinder() finder { return finder{folders: usualFolders, cache: cacheDir()} }

// installed lists what is on this machine, highest version first. A folder named
// by TEKRAR_POSTGRES_BIN is the only one then, and an error when it is of no use.
func (f finder) installed(ctx context.Context) ([]binaries, error) {
	if dir := os.Getenv("TEKRAR_POSTGRES_BIN"); dir != "" {
		b, err := look(ctx, dir)
		if err != nil {
			return nil, fmt.Errorf("TEKRAR_POSTGRES_BIN: %w", err)
		}
		return []binaries{b}, nil
	}
	var dirs []string
	if p, err := exec.LookPath("postgres"); err == nil {
		dirs = append(dirs, filepath.Dir(p))
	}
	for _, pattern := range f.folders {
		found, _ := filepath.Glob(pattern)
		dirs = append(dirs, found...)
	}
	var all []binaries
	for _, dir := range dirs {
		b, err := look(ctx, dir)
		if err == nil && !slices.Contains(all, b) {
			all = append(all, b)
		}
	}
	slices.SortStableFunc(all, func(a, b binaries) int { return b.major - a.major })
	return all, nil
}

// choose prefers a version whose data is already in dir, so that installing a
// newer Postgres next to the old one does not make the data seem gone.
func choose(all []binaries, dir string) binaries {
	for _, b := range all {
		if hasData(dataDir(dir, b.major)) {
			return b
		}
	}
	return all[0]
}

// find picks binaries for dir and fetches them when the machine has none.
func (f finder) find(ctx context.Context, dir string) (binaries, error) {
	all, err := f.installed(ctx)
	if err != nil {
		return binaries{}, err
	}
	if len(all) > 0 {
		return choose(all, dir), nil
	}
	b, err := download(ctx, f.cache, f.repository)
	if err != nil {
		return binaries{}, fmt.Errorf("%w (%w)", errNoPostgres, err)
	}
	return b, nil
}

var errNoPostgres = errors.New("no Postgres 14 or newer was found or could be fetched. Three ways out: " +
	"set DATABASE_URL to a running server; install Postgres (for instance apt install postgresql) or name its " +
	"bin folder in TEKRAR_POSTGRES_BIN; or let this machine reach the internet, to fetch it")

func dataDir(dir string, major int) string { return filepath.Join(dir, "pg"+strconv.Itoa(major)) }

func hasData(data string) bool {
	_, err := os.Stat(filepath.Join(data, "PG_VERSION"))
	return err == nil
}
