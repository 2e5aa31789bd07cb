package bench

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// effect is what one run of a handler did to the world outside of the database:
// it was seen to begin, and to end unless its process died first.
type effect struct {
	Job     int64
	Attempt int
	Server  int64
	PID     int
	Begun   time.Time
	Ended   time.Time // zero: the process died
	starts  int
	ends    int
}

type attemptKey struct {
	job     int64
	attempt int
}

// journal is the file to which all workers append their effects, a line a write:
// the kernel keeps what a killed process wrote.
type journal struct{ *os.File }

func openJournal(path string) (journal, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return journal{f}, err
}

// note appends "begun" or "ended" of an attempt.
func (j journal) note(what string, job int64, attempt int, server int64) error {
	_, err := fmt.Fprintf(j.File, "%s %d %d %d %d %d\n", what, job, attempt, server, os.Getpid(), time.Now().UnixMicro())
	return err
}

// readJournal sums the lines up by attempt.
func readJournal(path string) (map[attemptKey]*effect, error) {
	effects := map[attemptKey]*effect{}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return effects, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var what string
		var e effect
		var at int64
		if _, err := fmt.Sscan(lines.Text(), &what, &e.Job, &e.Attempt, &e.Server, &e.PID, &at); err != nil {
			return nil, fmt.Errorf("journal of effects: %q: %w", lines.Text(), err)
		}
		k := attemptKey{e.Job, e.Attempt}
		if effects[k] == nil {
			effects[k] = &e
		}
		one := effects[k]
		if what == "begun" {
			one.Begun = time.UnixMicro(at)
			one.starts++
		} else {
			one.Ended = time.UnixMicro(at)
			one.ends++
		}
	}
	return effects, lines.Err()
}
