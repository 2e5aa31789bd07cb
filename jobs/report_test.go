package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

func TestLogAndProgressOfHandlers(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	r := start(t, quickly(), func(c *jobs.Client) {
		jobs.Handle(c, func(_ context.Context, j *jobs.Job[greet]) error {
			j.Log("read %d of %d", 1, 3)
			j.Log("bad \x00 text \x1b[31mred\x1b[0m %s", strings.Repeat("ü", 5000))
			for i := range 100 {
				j.Progress(int64(i), 100, "importing")
			}
			<-hold
			j.Progress(100, 100, "done")
			j.Log("finished")
			return nil
		})
	})
	id := enqueue(t, r.Client, greet{}).ID
	eventually(t, "progress is shown while the job runs", func() bool {
		p, ok, err := r.db.JobProgress(t.Context(), id)
		return err == nil && ok && p.Done == 99 && p.Total == 100 && p.Message == "importing" && p.Attempt == 1
	})
	if s := r.detail(id).State; s != store.Processing {
		t.Errorf("the job is %v, not processing", s)
	}
	close(hold)
	r.waitFor(id, store.Succeeded)
	eventually(t, "the last words are written", func() bool {
		lines, total, err := r.db.JobLog(t.Context(), id, 2)
		p, _, err2 := r.db.JobProgress(t.Context(), id)
		return err == nil && err2 == nil && total == 3 && len(lines) == 2 && lines[1].Line == "finished" && p.Done == 100
	})
	lines, _, _ := r.db.JobLog(t.Context(), id, 10)
	if lines[0].Line != "read 1 of 3" || strings.ContainsAny(lines[1].Line, "\x00\x1b") || len(lines[1].Line) > jobs.MaxLogLine+64 {
		t.Errorf("lines %.400s", fmt.Sprint(lines))
	}
}

func TestLogOfOneAttemptEndsVisibly(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), func(c *jobs.Client) {
		jobs.Handle(c, func(_ context.Context, j *jobs.Job[greet]) error {
			for i := range jobs.MaxLogLines + 500 {
				j.Log("%d", i)
			}
			return nil
		})
	})
	id := enqueue(t, r.Client, greet{}).ID
	eventually(t, "all lines are written", func() bool {
		lines, total, err := r.db.JobLog(t.Context(), id, 1)
		return err == nil && total == jobs.MaxLogLines+1 && strings.HasPrefix(lines[0].Line, "… the log")
	})
}

func TestResultIsKeptWithTheSuccess(t *testing.T) {
	t.Parallel()
	var refused error
	r := start(t, quickly(), func(c *jobs.Client) {
		jobs.Handle(c, func(_ context.Context, j *jobs.Job[greet]) error {
			if err := j.SetResult(map[string]any{"attempt": j.Attempt, "id": int64(1970670598291982290)}); err != nil {
				return err
			}
			refused = j.SetResult(strings.Repeat("x", jobs.MaxResult))
			if j.Attempt == 1 {
				return errors.New("once")
			}
			return nil
		}, jobs.Retry(jobs.RetryPolicy{MaxRetries: 1, Backoff: jobs.Fixed(0)}))
	})
	id := enqueue(t, r.Client, greet{}).ID
	d := r.waitFor(id, store.Succeeded)
	var data struct{ Result json.RawMessage }
	if err := json.Unmarshal(d.History[0].Data, &data); err != nil {
		t.Fatal(err)
	}
	if got := strings.ReplaceAll(string(data.Result), " ", ""); got != `{"id":1970670598291982290,"attempt":2}` && got != `{"attempt":2,"id":1970670598291982290}` {
		t.Errorf("result %s", data.Result)
	}
	if fmt.Sprint(refused) == "" || refused == nil || !strings.Contains(refused.Error(), "result") {
		t.Errorf("a large result: %v", refused)
	}
	for _, h := range d.History[1:] {
		if strings.Contains(string(h.Data), "197067") {
			t.Error("a failed attempt keeps a result")
		}
	}
}
