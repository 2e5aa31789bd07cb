package store

import "context"

// Said is what the handler of a job said: its newest log lines, oldest of them
// first, and its newest progress.
type Said struct {
	Lines    []LogLine
	Total    int       // lines there are in all
	Progress *Progress // nil: none
	Version  int64     // grows with every word
}

// Said reads what the handler of a job said: the progress that was read with it,
// and at most limit lines of its log.
func (db *DB) Said(ctx context.Context, d JobDetail, limit int) (s Said, err error) {
	if s.Lines, s.Total, err = db.JobLog(ctx, d.ID, limit); err != nil {
		return Said{}, err
	}
	if s.Progress = d.Progress; s.Progress != nil {
		s.Version = s.Progress.At.UnixMicro()
	}
	if n := len(s.Lines); n > 0 {
		s.Version = max(s.Version, s.Lines[n-1].At.UnixMicro())
	}
	return s, nil
}
