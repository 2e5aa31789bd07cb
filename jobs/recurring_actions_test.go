package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/schedule"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// Bad input is refused with the field named, in code and by the API alike, and
// fast, whatever its size.
func TestRecurringBadInputNamesTheField(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	good := jobs.RecurringSpec{ID: "r", Spec: "0 2 * * *", Zone: "Europe/Istanbul", Kind: "task"}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for field, cases := range map[string][]func(*jobs.RecurringSpec){
		"id":   {func(s *jobs.RecurringSpec) { s.ID = "" }, func(s *jobs.RecurringSpec) { s.ID = strings.Repeat("x", 201) }, func(s *jobs.RecurringSpec) { s.ID = "a\x00" }},
		"kind": {func(s *jobs.RecurringSpec) { s.Kind = "" }},
		"cron": {func(s *jobs.RecurringSpec) { s.Spec = "0 0 30 2 *" }, func(s *jobs.RecurringSpec) { s.Spec = "" }, func(s *jobs.RecurringSpec) { s.Spec = strings.Repeat("1,", 5000) + "1 * * * *" },
			func(s *jobs.RecurringSpec) { s.Spec = "١ * * * *" }, func(s *jobs.RecurringSpec) { s.Spec = "*/0 * * * *" }, func(s *jobs.RecurringSpec) { s.Spec = "0-99999999999 * * * *" },
			func(s *jobs.RecurringSpec) { s.Spec = "@every 0s" }, func(s *jobs.RecurringSpec) { s.Spec = "@every -5m" }},
		"zone":                   {func(s *jobs.RecurringSpec) { s.Zone = "Mars/Phobos" }, func(s *jobs.RecurringSpec) { s.Zone = "../etc/passwd" }, func(s *jobs.RecurringSpec) { s.Zone = "Local" }},
		"end":                    {func(s *jobs.RecurringSpec) { s.Start, s.End = start, start.Add(-time.Second) }, func(s *jobs.RecurringSpec) { s.Start, s.End = start, start.Add(time.Minute) }},
		"queue":                  {func(s *jobs.RecurringSpec) { s.Queue = "a\nb" }},
		"priority":               {func(s *jobs.RecurringSpec) { s.Priority = 5 }},
		"timeout":                {func(s *jobs.RecurringSpec) { s.Timeout = -1 }},
		"misfire":                {func(s *jobs.RecurringSpec) { s.Misfire = 7 }},
		"overlap":                {func(s *jobs.RecurringSpec) { s.Overlap = -1 }},
		"args":                   {func(s *jobs.RecurringSpec) { s.Args = json.RawMessage(`[1]`) }},
		"RetryPolicy.MaxRetries": {func(s *jobs.RecurringSpec) { s.Retry = &jobs.RetryPolicy{MaxRetries: -1} }},
		"RetryPolicy.ExceptOn":   {func(s *jobs.RecurringSpec) { s.Retry = &jobs.RetryPolicy{ExceptOn: []jobs.Matcher{jobs.Is(errPaper)}} }},
	} {
		for i, spoil := range cases {
			s := good
			spoil(&s)
			c := newClient(t, db, quickly())
			var refused *jobs.InputError
			began := time.Now()
			err := c.SaveRecurring(t.Context(), "ada", s)
			if took := time.Since(began); took > 500*time.Millisecond { // 10 ms on a machine that is not shared
				t.Errorf("%s %d took %v", field, i, took)
			}
			if !errors.As(err, &refused) || strings.SplitN(refused.Field, " ", 2)[0] != field {
				t.Errorf("%s %d: %v", field, i, err)
			}
			if len(err.Error()) > 1000 {
				t.Errorf("%s %d: the error has %d bytes", field, i, len(err.Error()))
			}
		}
	}
	same(t, 0, ask[int](t, db, `select count(*) from tekrar.recurring`))

	c := newClient(t, db, quickly())
	c.Recurring("r", "0 0 30 2 *", task{})
	c.Recurring("s", "@hourly", task{}, jobs.OnRecurringQueue(""))
	c.Recurring("t", "@hourly", task{})
	c.Recurring("t", "@daily", task{})
	c.Recurring("u", "@hourly", nil)
	err := c.Run(t.Context())
	for _, want := range []string{`"r": cron: never fires`, `"s": queue: is empty`, `"t": id: is declared twice`, `"u": args: is nil`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	}
	if _, _, err := c.PreviewRecurring("0 0 30 2 *", "", nil, nil, 5); !errors.As(err, new(*jobs.InputError)) {
		t.Error("preview:", err)
	}
}

// What people do is audited with the actor; a pause survives a deploy, even one
// that changes the schedule.
func TestPauseSurvivesDeploysAndIsAudited(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	declared(t, db, ticks(nothing, "r", "@every 1h"))
	c := newClient(t, db, quickly())
	ctx := context.Background()
	for _, err := range []error{
		c.PauseRecurring(ctx, "ada", "r"), c.PauseRecurring(ctx, "bob", "r"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	shift(t, db, `update tekrar.recurring set next_run = next_run - interval '3 hours', created_at = created_at - interval '3 hours'`)
	declared(t, db, ticks(nothing, "r", "@every 1h"))
	declared(t, db, ticks(nothing, "r", "@every 2h"))
	row := recurring(t, db, "r")
	if row.PausedAt == nil || row.PausedBy != "ada" || row.Spec != "@every 2h0m0s" || len(row.Last) != 0 {
		t.Errorf("%+v", row)
	}
	if _, err := jobs.FireOnce(ctx, c); err != nil {
		t.Fatal(err)
	}
	same(t, 0, ask[int](t, db, `select count(*) from tekrar.jobs`))
	shift(t, db, `update tekrar.recurring set next_run = created_at + interval '2 hours', start_at = created_at`)
	for _, err := range []error{
		c.ResumeRecurring(ctx, "ada", "r"), c.RemoveRecurring(ctx, "bob", "r"), c.RemoveRecurring(ctx, "bob", "r"),
		c.SaveRecurring(ctx, "eve", jobs.RecurringSpec{ID: "new", Spec: "@daily", Kind: "task", Paused: true}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var said []string
	if err := db.Select(&said, `select actor || ': ' || action || ' ' || (detail->>'recurring') from tekrar.audit order by id`); err != nil {
		t.Fatal(err)
	}
	same(t, []string{"ada: pause recurring r", "bob: pause recurring r", "ada: resume recurring r", "bob: remove recurring r", "bob: remove recurring r", "eve: save recurring new"}, said)
	if row := recurring(t, db, "new"); row.PausedBy != "eve" || row.NextRun == nil {
		t.Errorf("%+v", row)
	}
	for name, err := range map[string]error{
		"pause": c.PauseRecurring(ctx, "ada", "gone"), "resume": c.ResumeRecurring(ctx, "ada", "gone"), "remove": c.RemoveRecurring(ctx, "ada", "gone"),
	} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := c.PauseRecurring(ctx, " ", "r"); !errors.As(err, new(*jobs.InputError)) {
		t.Errorf("no actor: %v", err)
	}
}

// Row 81: run now leaves an overdue fire where it is; that one then comes, and
// next is the next minute. Row 78: one without a next fire can be run by hand.
func TestRunNowMovesNothing_Rows78and81(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	c := newClient(t, db, quickly())
	save(t, c, jobs.RecurringSpec{ID: "minutely", Spec: "* * * * *", Kind: "task", Queue: "mails", Priority: 2, Args: json.RawMessage(`{"n":9007199254740993}`), Timeout: time.Minute})
	shift(t, db, `update tekrar.recurring set next_run = date_trunc('minute', clock_timestamp()) - interval '1 hour'`)
	overdue := recurring(t, db, "minutely").NextRun
	run, err := c.RunRecurringNow(t.Context(), "ada", "minutely")
	if err != nil {
		t.Fatal(err)
	}
	row := recurring(t, db, "minutely")
	same(t, []string{"enqueued enqueued run now by ada"}, fires(row))
	if !row.NextRun.Equal(*overdue) || row.LastFire != nil || *row.Last[0].JobID != run.ID {
		t.Errorf("%+v", row)
	}
	d, err := db.Job(t.Context(), run.ID, 10, 0)
	if err != nil || d.Queue != "mails" || d.Priority != 2 || string(d.Args) != `{"n": 9007199254740993}` || *d.TimeoutMS != 60000 {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := jobs.FireOnce(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	row = recurring(t, db, "minutely")
	same(t, 2, len(row.Last))
	if until := time.Until(*row.NextRun); until > time.Minute || until < -10*time.Second {
		t.Errorf("next fire in %v", until)
	}
	same(t, 1, ask[int](t, db, `select count(*) from tekrar.audit where actor = 'ada' and action = 'run recurring now'`))

	shift(t, db, `update tekrar.recurring set next_run = null, end_at = clock_timestamp()`)
	if _, err := c.RunRecurringNow(t.Context(), "ada", "minutely"); err != nil {
		t.Errorf("row 78: %v", err)
	}
	if _, err := c.RunRecurringNow(t.Context(), "ada", "gone"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	if err := c.RemoveRecurring(t.Context(), "ada", "minutely"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.RunRecurringNow(t.Context(), "ada", "minutely"); !errors.Is(err, store.ErrStateChanged) {
		t.Error(err)
	}
	check(t, db)
}

// A schedule ends after its last fire, and has no next one then.
func TestEndedScheduleHasNoNextFire(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	c := newClient(t, db, quickly())
	begin := time.Now().Truncate(time.Minute)
	save(t, c, jobs.RecurringSpec{ID: "r", Spec: "@every 1h", Kind: "task", Start: begin, End: begin.Add(time.Hour)})
	shift(t, db, `update tekrar.recurring set start_at = start_at - interval '1 hour', end_at = end_at - interval '1 hour', next_run = next_run - interval '1 hour'`)
	if _, err := jobs.FireOnce(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	row := recurring(t, db, "r")
	if len(row.Last) != 1 || row.NextRun != nil || !row.Last[0].FireAt.Equal(begin) {
		t.Errorf("%+v", row)
	}
	if wait, err := jobs.FireOnce(t.Context(), c); err != nil || wait <= 0 {
		t.Error(wait, err)
	}
}

// The preview says in words what is meant and gives fires in UTC; an interval is
// counted from now when nothing else is said.
func TestPreview(t *testing.T) {
	t.Parallel()
	c := newClient(t, storetest.New(t), quickly())
	said, fires, err := c.PreviewRecurring("30 2 13 * 5", "Europe/Istanbul", nil, nil, 5)
	if err != nil || !strings.Contains(said.Words(), " or ") || len(fires) != 5 || fires[0].Location() != time.UTC || fires[0].Hour() != 23 {
		t.Errorf("%q %v %v", said.Words(), fires, err)
	}
	said, fires, err = c.PreviewRecurring("@every 90s", "", nil, nil, 2)
	if err != nil || said.Words() != "Every 1 minute and 30 seconds" || time.Until(fires[0]) > 90*time.Second || fires[1].Sub(fires[0]) != 90*time.Second {
		t.Errorf("%q %v %v", said.Words(), fires, err)
	}
}

// Code is stored at the start of Run: what changed in it takes effect, unchanged
// code leaves everything, and the kind's queue counts unless another is named.
func TestDeclarationsFollowTheCode(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	end := time.Now().AddDate(1, 0, 0).Truncate(time.Second)
	version := func(spec string, opts ...jobs.RecurringOption) func(*jobs.Client) {
		return func(c *jobs.Client) {
			jobs.Handle(c, nothing, jobs.OnQueue("kinds"))
			c.Recurring("r", spec, task{N: 7}, opts...)
		}
	}
	all := []jobs.RecurringOption{jobs.Zone("Europe/Istanbul"), jobs.MisfireRule(schedule.Skip), jobs.OverlapRule(jobs.OverlapSkip),
		jobs.RecurringRetry(jobs.NoRetry()), jobs.OnRecurringQueue("own"), jobs.Paused(), jobs.Between(time.Time{}, end)}
	declared(t, db, version("0 3 * * *", all...))
	first := recurring(t, db, "r")
	if first.Zone != "Europe/Istanbul" || first.Misfire != "skip" || first.Overlap != "skip" || first.Queue != "own" || first.PausedAt == nil || first.PausedBy != "code" ||
		!first.EndAt.Equal(end) || !first.Declared || string(first.Args) != `{"n": 7}` || first.Policy == nil || first.NextRun.UTC().Hour() != 0 {
		t.Errorf("%+v", first)
	}
	declared(t, db, version("0 3 * * *", all...))
	same(t, first, recurring(t, db, "r"))
	declared(t, db, version("0 4 * * *"))
	second := recurring(t, db, "r")
	if second.Zone != "UTC" || second.Queue != "kinds" || second.Policy != nil || second.EndAt != nil || second.PausedAt == nil || second.NextRun.UTC().Hour() != 4 || !second.CreatedAt.Equal(first.CreatedAt) {
		t.Errorf("%+v", second)
	}
}
