package bench

import (
	"context"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// calm is a small run without faults and what is known about it.
type calm struct {
	t  *testing.T
	db *store.DB
	*ledger
	journal string
}

func newCalm(t *testing.T) *calm {
	c := &calm{t: t, db: storetest.New(t), ledger: newLedger(), journal: filepath.Join(t.TempDir(), "effects")}
	client, err := jobs.New(c.db, chaosConfig("calm", slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	j, err := openJournal(c.journal)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	handleChaos(client, j)
	for _, steps := range [][]string{{"ok"}, {"fail", "ok"}, {"snooze", "panic", "ok"}, {"permanent"}} { // jobs 1 to 4
		n := c.next()
		r, err := client.Enqueue(t.Context(), plainScript{script{N: n, Steps: steps}})
		if err != nil {
			t.Fatal(err)
		}
		c.promise(n, r.ID, r.Duplicate)
	}
	c.refuse(c.next())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- client.Run(ctx) }()
	deadline := time.Now().Add(30 * time.Second)
	for {
		left, err := c.db.Counts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if left[store.Succeeded].N == 3 && left[store.Failed].N == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("not drained: %v", left)
		}
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *calm) exec(text string) {
	c.t.Helper()
	storetest.Exec(c.t, c.db, text)
}

func (c *calm) evidence() *evidence {
	c.t.Helper()
	e := &evidence{ledger: c.ledger, deaths: map[int]time.Time{}, lease: chaosLease, sweep: chaosSweep, slack: chaosSlack}
	if err := e.collect(c.t.Context(), c.db, c.journal); err != nil {
		c.t.Fatal(err)
	}
	return e
}

func TestChaosCheckerAcceptsACalmRun(t *testing.T) {
	t.Parallel()
	e := newCalm(t).evidence()
	e.judge()
	if len(e.breaches) > 0 {
		t.Error(strings.Join(e.breaches, "\n"))
	}
	if f := e.figures; f.Jobs != 4 || f.Attempts != 7 || f.Succeeded != 3 || f.Failed != 1 || f.Doubled != 0 {
		t.Errorf("%+v", f)
	}
}

// The negative control, on what the database's own checker finds.
func TestChaosCheckerAsksTheDatabase(t *testing.T) {
	t.Parallel()
	c := newCalm(t)
	c.exec(`delete from tekrar.history where job_id = 1 and state = 3`)
	c.exec(`update tekrar.stats set n = n + 1 where outcome = 1`)
	e := c.evidence()
	e.judge()
	e.wants(t, "job 1: history ", "succeeded follows enqueued", " succeeded, history 2", "claims: job 1 attempt 1 has 0 processing rows")
}

// The negative control, lie by lie.
func TestChaosCheckerFindsBreaches(t *testing.T) {
	t.Parallel()
	honest := newCalm(t).evidence()
	for name, tt := range map[string]struct {
		lie  func(*evidence)
		want []string
	}{
		"lost job":                      {func(e *evidence) { e.remove(1) }, []string{"lost job: job 1 (number 1)"}},
		"acknowledged under another id": {func(e *evidence) { e.promised[1] = 77 }, []string{"lost job: job 77 (number 1)"}},
		"rolled back job":               {func(e *evidence) { delete(e.promised, 2); e.refuse(2) }, []string{"rolled back job: job 2 (number 2)"}},
		"unknown job":                   {func(e *evidence) { delete(e.promised, 2) }, []string{"unknown job: nobody enqueued job 2"}},
		"doubled job": {func(e *evidence) { e.record.Jobs[3].Args = e.record.Jobs[0].Args },
			[]string{"doubled job: number 1", "lost job: job 4"}},
		"other args": {func(e *evidence) { e.record.Jobs[0].Args = "{}" }, []string{"args: job 1"}},
		"doubled outcome": {func(e *evidence) { e.repeat(1, store.Succeeded, store.Succeeded) },
			[]string{"outcomes: job 1 attempt 1 has 2 outcome rows"}},
		"doubled claim": {func(e *evidence) { e.repeat(1, store.Processing, store.Processing) },
			[]string{"claims: job 1 attempt 1 has 2 processing rows"}},
		"lost outcome": {func(e *evidence) { e.record.Steps = slices.DeleteFunc(e.record.Steps, is(1, store.Succeeded)) },
			[]string{"outcomes: job 1 attempt 1 has 0 outcome rows", "unfinished: job 1 is processing"}},
		"another attempt that succeeded": {func(e *evidence) {
			e.record.Steps[slices.IndexFunc(e.record.Steps, is(2, store.Failed))].State = store.Succeeded
		},
			[]string{"succeeded twice: job 2"}},
		"late beside an outcome": {func(e *evidence) { e.repeat(1, store.Succeeded, store.Late) }, []string{"settled twice: job 1 attempt 1"}},
		"another's token": {func(e *evidence) {
			e.record.Steps[slices.IndexFunc(e.record.Steps, is(1, store.Succeeded))].Server.Int64 = 99
		},
			[]string{"token: job 1 attempt 1 was claimed by server 1, and its succeeded row is by server 99"}},
		"effect of another's token":   {func(e *evidence) { e.effects[attemptKey{1, 1}].Server = 99 }, []string{"token: job 1 attempt 1 was claimed by server 1 and ran on server 99"}},
		"effect beyond attempts":      {func(e *evidence) { e.effects[attemptKey{1, 2}] = e.effects[attemptKey{1, 1}] }, []string{"effect beyond attempts: job 1 attempt 2"}},
		"attempt run twice":           {func(e *evidence) { e.effects[attemptKey{1, 1}].starts++ }, []string{"attempt run twice: job 1 attempt 1"}},
		"success without an effect":   {func(e *evidence) { delete(e.effects, attemptKey{1, 1}) }, []string{"success without an effect: job 1 attempt 1"}},
		"end that was never written":  {func(e *evidence) { e.effects[attemptKey{2, 1}].ends = 0 }, []string{"outcome without an end: job 2 attempt 1"}},
		"overlap":                     {func(e *evidence) { e.effects[attemptKey{2, 1}].Ended = time.Now().Add(time.Hour) }, []string{"overlap: job 2 attempt 2"}},
		"unique key held twice":       {func(e *evidence) { e.holds(1, "k"); e.holds(2, "k") }, []string{"unique: job 2 of k"}},
		"lost early":                  {func(e *evidence) { e.lose(-time.Second) }, []string{"lost early: server 1"}},
		"lost late":                   {func(e *evidence) { e.lose(time.Minute) }, []string{"late reclaim: server 1 (calm), found lost only 1m0s"}},
		"lost late, and nobody there": {func(e *evidence) { e.lose(time.Minute); delete(e.record.Servers, 2) }, nil},
		"never lost": {func(e *evidence) {
			s := e.record.Servers[1]
			s.StoppedAt, e.deaths[s.PID] = nil, time.Now()
			e.record.Servers[1] = s
		}, []string{"never lost: server 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := honest.copy()
			tt.lie(e)
			e.judge()
			if e.wants(t, tt.want...); tt.want == nil && len(e.breaches) > 0 {
				t.Error(strings.Join(e.breaches, "\n"))
			}
		})
	}
}

func (e *evidence) wants(t *testing.T, texts ...string) {
	t.Helper()
	found := strings.Join(e.breaches, "\n")
	for _, want := range texts {
		if !strings.Contains(found, want) {
			t.Errorf("lacks %q:\n%s", want, found)
		}
	}
}

func (e *evidence) copy() *evidence {
	c := *e
	l := e.ledger
	c.ledger = &ledger{promised: maps.Clone(l.promised), refused: maps.Clone(l.refused), unknown: maps.Clone(l.unknown),
		key: maps.Clone(l.key), duplicates: maps.Clone(l.duplicates)}
	c.record = store.Record{Jobs: slices.Clone(e.record.Jobs), Steps: slices.Clone(e.record.Steps), Servers: maps.Clone(e.record.Servers)}
	c.deaths, c.effects = maps.Clone(e.deaths), map[attemptKey]*effect{}
	for k, f := range e.effects {
		one := *f
		c.effects[k] = &one
	}
	return &c
}

func is(job int64, state store.State) func(store.RecordStep) bool {
	return func(s store.RecordStep) bool { return s.JobID == job && s.State == state }
}

// remove takes a job away without a trace.
func (e *evidence) remove(job int64) {
	e.record.Jobs = slices.DeleteFunc(e.record.Jobs, func(j store.RecordJob) bool { return j.ID == job })
	e.record.Steps = slices.DeleteFunc(e.record.Steps, func(s store.RecordStep) bool { return s.JobID == job })
	maps.DeleteFunc(e.effects, func(k attemptKey, _ *effect) bool { return k.job == job })
}

// repeat writes a history row once more, as another state.
func (e *evidence) repeat(job int64, state, as store.State) {
	i := slices.IndexFunc(e.record.Steps, is(job, state))
	again := e.record.Steps[i]
	again.State = as
	e.record.Steps = slices.Insert(e.record.Steps, i+1, again)
}

// lose lets the first server be found lost some time after its lease, while a second
// one is there all the time.
func (e *evidence) lose(after time.Duration) {
	s := e.record.Servers[1]
	at := s.LeaseUntil.Add(after)
	e.record.Servers[2] = store.RecordServer{ID: 2, Name: "second", StartedAt: s.StartedAt, LeaseUntil: at.Add(time.Hour)}
	s.StoppedAt, s.LostAt = nil, &at
	e.record.Servers[1] = s
}
