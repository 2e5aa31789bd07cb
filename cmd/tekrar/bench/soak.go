//go:build linux || darwin

package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

const (
	soakWorkers  = 2
	soakPatience = 2 * time.Minute // until everything has recovered and is drained
)

// soak is two workers and a steady load on a database to which somebody else does
// harm. Nobody restarts a worker, and every connection goes by the one address.
type soak struct {
	*ledger
	dir     string
	db      *store.DB
	workers []*worker
	probe   *probe
	marks   []mark // faults
	writes  []mark // the moments from which the database took writes again
	during  span   // under load
}

// Soak runs jobs in a migrated database until its input ends, and prints one JSON
// line of figures; it fails with the names of all breaches of what the engine
// promises. Each line of the input names a fault that begins now, or is "writes": the
// database takes writes again. dir gets the workers' log and the journal of what they did.
func Soak(ctx context.Context, dsn, dir string, in io.Reader, out io.Writer) error {
	s := &soak{dir: dir, ledger: newLedger()}
	log, err := os.Create(filepath.Join(dir, "workers.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	quiet := slog.New(slog.DiscardHandler)
	if s.db, err = store.Open(dsn, store.Options{Logger: quiet}); err != nil {
		return err
	}
	defer s.db.Close()
	client, err := jobs.New(s.db, jobs.Config{Logger: quiet})
	if err != nil {
		return err
	}
	spawn, err := selfSpawn(s.journal())
	if err != nil {
		return err
	}
	for i := range soakWorkers {
		w := &worker{name: fmt.Sprintf("worker-%d", i), spawn: spawn, dsn: dsn, log: log, deaths: map[int]time.Time{}}
		if err := w.start(); err != nil {
			return err
		}
		defer w.kill()
		s.workers = append(s.workers, w)
	}
	if err := s.until(ctx, "both workers listen", s.listening); err != nil {
		return err
	}
	s.harm(ctx, client, in)
	if err := s.until(ctx, "both workers listen again", s.listening); err != nil {
		return err
	}
	if err := s.until(ctx, "every job has ended", s.drained); err != nil {
		return err
	}
	var ends []error
	for _, w := range s.workers {
		ends = append(ends, w.finish())
	}
	if err := errors.Join(ends...); err != nil {
		return err
	}
	return s.report(ctx, out)
}

func (s *soak) journal() string { return filepath.Join(s.dir, "effects") }

// harm is the load, while the input tells of faults.
func (s *soak) harm(ctx context.Context, client *jobs.Client, in io.Reader) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.probe = &probe{client: client, ledger: s.ledger}
	var enqueuers sync.WaitGroup
	enqueuers.Go(func() { (&load{db: s.db, client: client, ledger: s.ledger, spare: true}).run(ctx, 1) })
	enqueuers.Go(func() { s.probe.run(ctx) })
	told := make(chan string)
	go func() {
		defer close(told)
		for lines := bufio.NewScanner(in); lines.Scan(); {
			select {
			case told <- lines.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	s.during.From = time.Now()
	for more := true; more; {
		select {
		case name, is := <-told:
			if more = is; is {
				s.told(name, time.Now())
			}
		case <-ctx.Done():
			more = false
		}
	}
	s.during.To = time.Now()
	stop()
	enqueuers.Wait()
}

func (s *soak) told(name string, at time.Time) {
	switch {
	case name != "writes":
		s.marks = append(s.marks, mark{name, at})
	case len(s.marks) > 0:
		s.writes = append(s.writes, mark{s.marks[len(s.marks)-1].Name, at})
	}
}

// until polls a condition; a worker that ended ends the waiting.
func (s *soak) until(ctx context.Context, what string, ok func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, soakPatience)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		is, err := ok(ctx)
		if is && err == nil {
			return nil
		}
		for _, w := range s.workers {
			select {
			case <-w.end():
				return fmt.Errorf("%s ended by itself", w.name)
			default:
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("it never came to this: %s: %w", what, ctx.Err()), err)
		}
	}
}

// listening: every process that was started is a live server, and LISTEN wakes it.
func (s *soak) listening(ctx context.Context) (bool, error) {
	rows, err := s.db.Servers(ctx)
	live := map[int]bool{}
	for _, r := range rows {
		live[r.PID] = live[r.PID] || r.Listening && r.StoppedAt == nil && r.LostAt == nil && r.LeaseUntil.After(r.Now)
	}
	all := true
	for _, w := range s.workers {
		all = all && live[w.cmd.Process.Pid]
	}
	return all, err
}

func (s *soak) drained(ctx context.Context) (bool, error) {
	left, err := s.db.Counts(ctx)
	return left[store.Enqueued].N+left[store.Processing].N+left[store.Scheduled].N == 0, err
}
