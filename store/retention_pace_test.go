package store_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
)

// Retention takes a fifth of the time while jobs run, all of it while none do.
func TestExpireRestsWhileJobsRun(t *testing.T) {
	e := writeSetup(t)
	outcomes := func(n int, ago string) {
		e.exec(`insert into tekrar.stats (minute, server, n, run_us, wait_us, outcome, attempt, bucket, queue, kind)
			values (date_trunc('minute', clock_timestamp()) - $2::interval, 1, $1, 0, 0, 1, 1, 0, 'q', 'k')`, n, ago)
	}
	outcomes(1_000_000, "5 minutes")
	outcomes(5_999, "0")
	ended, end := context.WithCancel(e.ctx)
	if took, err := store.ExpirePause(ended, e.db, time.Hour, 0); err != nil || took >= store.ExpireRest {
		t.Errorf("it rested %v beside few jobs, %v", took, err)
	}
	outcomes(1, "1 minute")
	const chunk = 20 * time.Millisecond
	if took, err := store.ExpirePause(ended, e.db, chunk, time.Minute); err != nil || took < 4*chunk {
		t.Errorf("it rested %v after %v, %v", took, chunk, err)
	}
	for _, want := range []struct{ took, before, rest time.Duration }{
		{chunk, time.Hour, 4 * chunk}, {chunk, time.Hour + 1, chunk}, {time.Hour, 0, store.ExpireRest},
	} {
		if rest := store.ExpirePauseOf(want.took, want.before); rest != want.rest {
			t.Errorf("%+v: %v", want, rest)
		}
	}
	time.AfterFunc(chunk, end)
	if took, err := store.ExpirePause(ended, e.db, time.Hour, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("it rested %v after the end, %v", took, err)
	}
}

// Two processes do not remove the same jobs: who meets another leaves it to that one.
func TestExpireLeavesItToWhoIsThere(t *testing.T) {
	r := newRace(t, "expire: jobs removed")
	put(t, r.db, repeat(3, past{states: way(store.Succeeded)})...)
	first := r.expireApart(r.first, store.Succeeded)
	<-r.reached
	if n := must(r, r.expireApart(r.second, store.Succeeded)); n != 0 {
		t.Errorf("the second removed %d", n)
	}
	r.goOn()
	if n := must(r, first); n != 3 {
		t.Errorf("the first removed %d", n)
	}
}

// Kinds go forward together, by the order in which their jobs finished, each by its
// own retention.
func TestExpireTakesKindsTogether(t *testing.T) {
	e := writeSetup(t)
	e.exec(`insert into tekrar.jobs (id, queue, kind, args) select g, 'default', 'k' || g % 3, '{}' from generate_series(1, 9000) g`)
	e.exec(`insert into tekrar.history (job_id, at, attempt, state, queue, kind) select id, now() - interval '2 h', 1, 4, queue, kind from tekrar.jobs order by id`)
	e.exec(`insert into tekrar.kinds (kind, queue, max_retries, policy, keep_succeeded_ms) values ('k2', 'default', 1, '{}', -1)`)
	ctx, stop := context.WithCancel(e.ctx)
	chunks := 0
	store.SetPause(e.db, func(point string) {
		if point == "expire: jobs removed" {
			if chunks++; chunks == 8 {
				stop()
			}
		}
	})
	if _, err := e.db.Expire(ctx, store.Succeeded, time.Hour); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	var left []int
	if err := e.db.SelectContext(e.ctx, &left, `select count(*) from tekrar.jobs group by kind order by kind`); err != nil {
		t.Fatal(err)
	}
	if left[2] != 3000 || left[0] > 2000 || left[1] > 2000 || !slices.Contains(left[:2], 1000) && left[0] != left[1] {
		t.Errorf("left %v", left)
	}
	if n, err := e.db.Expire(e.ctx, store.Succeeded, time.Hour); err != nil || n != left[0]+left[1] {
		t.Errorf("%d removed, left were %v, %v", n, left, err)
	}
}
