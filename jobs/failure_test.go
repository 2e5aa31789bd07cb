package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// failure is what the failed row of an attempt tells.
type failure struct {
	Error string `json:"error"`
	Type  string `json:"error_type"`
	Stack string `json:"stack"`
	Rule  string `json:"rule"`
}

// failures reads the failed rows of a job, oldest first.
func failures(t testing.TB, d store.JobDetail) (list []failure) {
	t.Helper()
	for i := len(d.History) - 1; i >= 0; i-- {
		if d.History[i].State != store.Failed {
			continue
		}
		var f failure
		if err := json.Unmarshal(d.History[i].Data, &f); err != nil {
			t.Fatalf("history row %d: %v", d.History[i].ID, err)
		}
		list = append(list, f)
	}
	return list
}

// misbehave is where the stacks below have to start.
func misbehave(how string) error {
	switch how {
	case "panic":
		panic("out of paper")
	case "panic(error)":
		panic(fmt.Errorf("wrapped: %w", errPaper))
	case "panic(nil)":
		panic(nil)
	case "panic(struct)":
		panic(struct{}{})
	case "Goexit":
		runtime.Goexit()
	}
	return nil
}

var errPaper = errors.New("out of paper")

type badly struct {
	How string `json:"how"`
}

func (badly) Kind() string { return "badly" }

// EXE-01: whatever a handler does to its goroutine is a failed attempt with a
// clear text, its own frame first; afterwards every slot still works.
func TestEXE01PanicAndGoexit(t *testing.T) {
	t.Parallel()
	cfg := quickly()
	var meet sync.WaitGroup
	meet.Add(cfg.Workers)
	r := start(t, cfg, func(c *jobs.Client) {
		jobs.Handle(c, func(_ context.Context, j *jobs.Job[badly]) error { return misbehave(j.Args.How) }, jobs.Retry(jobs.NoRetry()))
		jobs.Handle(c, func(context.Context, *jobs.Job[task]) error { meet.Done(); meet.Wait(); return nil })
	})
	want := map[string]string{
		"panic":         "panic: out of paper (string)",
		"panic(error)":  "panic: wrapped: out of paper (*fmt.wrapError)",
		"panic(nil)":    "panic: nil (*runtime.PanicNilError)",
		"panic(struct)": "panic: {} (struct {})",
		"Goexit":        jobs.ErrGoexit.Error(),
	}
	ids := map[int64]string{}
	for range 2 * cfg.Workers {
		for how := range want {
			ids[r.put(badly{how})] = how
		}
	}
	for id, how := range ids {
		f := failures(t, r.waitFor(id, store.Failed))
		if len(f) != 1 {
			t.Fatalf("%s: %d failures", how, len(f))
		}
		same(t, want[how], f[0].Error)
		if first, _, _ := strings.Cut(f[0].Stack, "\n"); !strings.Contains(first, "misbehave") {
			t.Errorf("%s: the stack starts with %q", how, first)
		}
	}
	for range cfg.Workers { // all slots have to be in it at once
		r.put(task{})
	}
	meet.Wait()
}

// EXE-02: a panic while the arguments are decoded is a failed attempt too.
func TestEXE02PanicInDecode(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), func(c *jobs.Client) {
		jobs.Handle(c, func(context.Context, *jobs.Job[explosive]) error { return nil }, jobs.Retry(jobs.NoRetry()))
		jobs.Handle(c, nothing)
	})
	f := failures(t, r.waitFor(r.put(explosive{}), store.Failed))
	same(t, "panic: cannot be read (string)", f[0].Error)
	if !strings.Contains(strings.SplitN(f[0].Stack, "\n", 2)[0], "UnmarshalJSON") {
		t.Errorf("the stack does not start in UnmarshalJSON:\n%s", f[0].Stack)
	}
	r.waitFor(r.put(task{}), store.Succeeded)
}

type explosive struct{ N int }

func (explosive) Kind() string                { return "explosive" }
func (*explosive) UnmarshalJSON([]byte) error { panic("cannot be read") }

// ARG-11: arguments that no longer decode never reach the handler; the attempt
// fails and names the field, and the policy goes on as for any failure.
func TestARG11ArgsThatDoNotDecode(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), on(func(context.Context, *jobs.Job[task]) error {
		t.Error("the handler was called")
		return nil
	}, jobs.Retry(jobs.RetryPolicy{MaxRetries: 1, Delays: []time.Duration{0}})))
	placed, err := r.EnqueueRaw(t.Context(), "task", json.RawMessage(`{"n":"abc"}`))
	if err != nil {
		t.Fatal(err)
	}
	d := r.waitFor(placed.ID, store.Failed)
	same(t, []string{"enqueued", "processing", "failed: An error occurred during attempt 1",
		"enqueued: Retry attempt 1 of 1: args.n: cannot read string as int", "processing",
		"failed: An error occurred during attempt 2"}, told(d))
}

// ERR-01, ERR-03, ERR-05, ERR-06, ERR-09: no text keeps a job from being settled,
// and what is stored can be shown.
func TestERR01ERR03AnyErrorTextIsStored(t *testing.T) {
	t.Parallel()
	texts := map[int]string{
		1: "a\x00b\xffc\xed\xa0\x80d",
		2: strings.Repeat("€", 10<<20/3),
		3: "\x1b[31mred\x1b[0m\r\nbell\x07",
		4: "<script>alert(1)</script></textarea>",
		5: strings.Repeat("x", 4000),
		6: "",
		7: strings.Repeat("\"\\\n\u2028", 8000),
	}
	r := start(t, quickly(), on(func(_ context.Context, j *jobs.Job[task]) error {
		if j.Args.N == 2 {
			panic(texts[2])
		}
		return errors.New(texts[j.Args.N])
	}, jobs.Retry(jobs.NoRetry())))
	got := map[int]string{}
	for n := range texts {
		d := r.waitFor(r.put(task{N: n}), store.Failed)
		f := failures(t, d)
		got[n] = f[0].Error
		if !utf8.ValidString(got[n]) || strings.ContainsAny(got[n], "\x00\x1b\x07") || utf8.RuneCountInString(d.ErrorLine) > 200 {
			t.Errorf("text %d is stored as %.100q, line %.100q", n, got[n], d.ErrorLine)
		}
		if len(d.History[0].Data) > 20<<10 {
			t.Errorf("text %d takes %d bytes", n, len(d.History[0].Data))
		}
	}
	same(t, "a\ufffdb\ufffdc\ufffdd", got[1])
	if !strings.Contains(got[2], "€€") || !strings.Contains(got[2], "truncated") {
		t.Errorf("the long text ends %q", got[2][max(0, len(got[2])-80):])
	}
	same(t, "red\nbell\ufffd", got[3])
	same(t, texts[4], got[4])
	same(t, texts[5], got[5])
	same(t, "(no message)", got[6])
}
