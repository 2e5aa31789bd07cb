package jobs_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// refused wants an *InputError that names the part.
func refused(t *testing.T, part string, err error) {
	t.Helper()
	var input *jobs.InputError
	if !errors.As(err, &input) || !strings.Contains(err.Error(), part) {
		t.Errorf("want an InputError that names %q, got %v", part, err)
	}
}

// Bad input is refused before any statement, with the field and the limit named.
func TestEnqueueRefusesBadInput(t *testing.T) {
	t.Parallel()
	c := newClient(t, storetest.Open(t, storetest.EmptyDSN(t), store.Options{}), quickly()) // a statement would fail differently
	for part, o := range map[string]jobs.EnqueueOption{
		"queue":             jobs.Queue(""),
		"at most 200":       jobs.Queue(strings.Repeat("q", 201)),
		"control character": jobs.Queue("a\nb"),
		"UTF-8":             jobs.Queue("a\xff"),
		"-4 to 4":           jobs.Priority(5),
		"priority":          jobs.Priority(-5),
		"9999":              jobs.At(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)),
		"timeout":           jobs.WithTimeout(time.Microsecond),
		"MaxRetries":        jobs.WithRetry(jobs.RetryPolicy{MaxRetries: -1}),
	} {
		_, err := c.Enqueue(t.Context(), task{}, o)
		refused(t, part, err)
	}
	_, err := c.Enqueue(t.Context(), nil)
	refused(t, "args", err)
	_, err = c.Enqueue(t.Context(), greet{Name: "a\x00b"})
	refused(t, "name", err)
	_, err = c.EnqueueRaw(t.Context(), "task", []byte(`{"n":`))
	refused(t, "args", err)
	_, err = c.EnqueueRaw(t.Context(), "", []byte(`{}`))
	refused(t, "kind", err)
}

// ARG-01: one bad job of a hundred, and none is stored.
func TestARG01EnqueueManyIsAllOrNothing(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	c := newClient(t, db, quickly())
	items := make([]jobs.Item, 100)
	for i := range items {
		items[i].Args = greet{Name: "x"}
	}
	items[70].Args = greet{Name: "a\x00b"}
	_, err := c.EnqueueMany(t.Context(), items)
	refused(t, "item 70 of 100", err)
	same(t, 0, ask[int](t, db, `select count(*) from tekrar.jobs`))
	if none, err := c.EnqueueMany(t.Context(), nil); err != nil || len(none) != 0 {
		t.Error(none, err)
	}
}
