package jobs_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// shift writes what no function of ours writes: time that has passed.
func shift(t testing.TB, db *store.DB, text string, args ...any) {
	t.Helper()
	err := db.Tx(context.Background(), func(tx *sqlx.Tx) error {
		_, err := tx.Exec(text, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func recurring(t testing.TB, db *store.DB, id string) store.RecurringRow {
	t.Helper()
	r, err := db.RecurringOne(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fires lists the fires of a recurring job, oldest first, as "outcome state note".
func fires(r store.RecurringRow) (list []string) {
	for i := len(r.Last) - 1; i >= 0; i-- {
		f := r.Last[i]
		state := ""
		if f.State != 0 {
			state = f.State.String()
		}
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s", f.Outcome, state, f.Note)))
	}
	return list
}

// ticks registers the handler of task and declares one recurring job of it.
func ticks(fn func(context.Context, *jobs.Job[task]) error, id, spec string, opts ...jobs.RecurringOption) func(*jobs.Client) {
	return func(c *jobs.Client) {
		jobs.Handle(c, fn)
		c.Recurring(id, spec, task{}, opts...)
	}
}

// declared runs a server until it has stored what it declares, and stops it.
func declared(t testing.TB, db *store.DB, register func(*jobs.Client)) {
	t.Helper()
	log := &loud{level: slog.LevelInfo}
	cfg := quickly()
	cfg.Logger = slogOf(log)
	r := startOn(t, db, cfg, register)
	eventually(t, "the server has started", func() bool {
		return slices.ContainsFunc(log.said(), func(line string) bool { return strings.HasPrefix(line, "server started") })
	})
	r.stop()
}

// loud keeps the log lines of at least a level.
type loud struct {
	level slog.Level
	mu    sync.Mutex
	lines []string
}

func (l *loud) Enabled(_ context.Context, level slog.Level) bool { return level >= l.level }
func (l *loud) WithAttrs([]slog.Attr) slog.Handler               { return l }
func (l *loud) WithGroup(string) slog.Handler                    { return l }

func (l *loud) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := r.Message
	r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	l.lines = append(l.lines, line)
	return nil
}

func (l *loud) said() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.lines...)
}

// contiguous fails unless the recurring job has one job for each second from its
// first fire to its last, and returns how many.
func contiguous(t testing.TB, db *store.DB, id string) int {
	t.Helper()
	var got struct {
		Jobs     int       `db:"jobs"`
		Distinct int       `db:"distinct_fires"`
		Fires    int       `db:"fires"`
		First    time.Time `db:"first"`
		Last     time.Time `db:"last"`
	}
	if err := db.Get(&got, `select count(*) as jobs, count(distinct fire_at) as distinct_fires, min(fire_at) as first, max(fire_at) as last,
		(select count(*) from tekrar.recurring_fires where recurring_id = $1 and outcome = 1) as fires
		from tekrar.jobs where recurring_id = $1`, id); err != nil {
		t.Fatal(err)
	}
	want := int(got.Last.Sub(got.First)/time.Second) + 1
	if got.Jobs != want || got.Distinct != want || got.Fires != want {
		t.Errorf("%d jobs with %d fire times and %d fires; %d seconds from %v to %v", got.Jobs, got.Distinct, got.Fires, want, got.First, got.Last)
	}
	return got.Jobs
}

func slogOf(l *loud) *slog.Logger { return slog.New(l) }

func save(t testing.TB, c *jobs.Client, s jobs.RecurringSpec) {
	t.Helper()
	if err := c.SaveRecurring(context.Background(), "ada", s); err != nil {
		t.Fatal(err)
	}
}
