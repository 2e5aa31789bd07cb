package store

import (
	"context"
	"fmt"
)

// AttemptFilter is which attempts count. The texts match exactly; empty means all.
// Version is that of the program that ran the attempt (jobs.Config.Version), known
// for as long as its servers are: thirty days after they ended. What was added up to
// hours before Tekrar kept versions there has none.
type AttemptFilter struct{ Kind, Queue, Version string }

// values are what a statement compares with; possible is false when nothing can match,
// as with a NUL in a name.
func (f AttemptFilter) values() (of AttemptFilter, possible bool) {
	for _, text := range []string{f.Kind, f.Queue, f.Version} {
		if (JobFilter{Kind: text}).impossible() {
			return AttemptFilter{}, false
		}
	}
	return f, true
}

// Minutes carry the number of their server. Hours carry the number of the newest server
// of that version, below zero, so that they are not added up again; 0 is no version.
func ofVersion(server, version string) string {
	return server + ` = any(array(select id from tekrar.servers where version = ` + version + `::text))`
}

const versions = `select version from tekrar.servers where version <> '' group by version order by max(id) desc limit 50`

// Versions lists the versions of the programs whose servers are known, the one that
// started last first, at most 50.
func (db *DB) Versions(ctx context.Context) (all []string, err error) {
	if err = db.SelectContext(ctx, &all, db.sql(versions)); err != nil {
		return nil, fmt.Errorf("list versions: %w", err)
	}
	return all, nil
}
