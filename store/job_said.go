package store

import (
	"context"
	"fmt"
)

// Said is what the handler of a job said: its newest log lines, oldest of them
// first, and its newest progress.
type Said struct {
	Lines    []LogLine
	Total    int       // lines there are in all
	Progress *Progress // nil: none
	Version  int64     // grows with every word
}

// Said reads what the handler of a job said, at most limit lines.
func (db *DB) Said(ctx context.Context, id int64, limit int) (s Said, err error) {
	if s.Lines, s.Total, err = db.JobLog(ctx, id, limit); err != nil {
		return Said{}, err
	}
	p, ok, err := db.JobProgress(ctx, id)
	if err != nil {
		return Said{}, fmt.Errorf("read what job %d said: %w", id, err)
	}
	if ok {
		s.Progress, s.Version = &p, p.At.UnixMicro()
	}
	if n := len(s.Lines); n > 0 {
		s.Version = max(s.Version, s.Lines[n-1].At.UnixMicro())
	}
	return s, nil
}
