package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// raceRounds of so many contenders: they meet in almost every one, and each statement
// costs time.
var raceRounds = map[int]int{2: 400, 16: 100}

// contest has n contenders, each on a connection of its own.
type contest struct {
	*engine
	conns []*sql.Conn
}

func newContest(t *testing.T, n int) *contest {
	t.Helper()
	dsn := storetest.DSN(t)
	c := &contest{engine: newEngine(t, storetest.Open(t, dsn, store.Options{}))}
	for range n {
		conn, err := storetest.Open(t, dsn, store.Options{}).Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		c.conns = append(c.conns, conn)
	}
	return c
}

// abandoned makes one claim whose holder went away 11 minutes ago.
func (c *contest) abandoned() {
	c.Helper()
	c.exec(`insert into tekrar.effect_claims (key, state, claimed_at, stale_at, stale_us)
		values ('k', 1, clock_timestamp() - interval '11 min', clock_timestamp() - interval '1 min', 600000000)
		on conflict (key) do update set state = 1, claimed_at = excluded.claimed_at, stale_at = excluded.stale_at`)
}

// winners lets all contenders try at once.
func (c *contest) winners(try func(i int, conn *sql.Conn) (bool, error)) int {
	c.Helper()
	c.abandoned()
	var won, failed int
	var mu sync.Mutex
	var all sync.WaitGroup
	start := make(chan struct{})
	for i, conn := range c.conns {
		all.Go(func() {
			<-start
			took, err := try(i, conn)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed++
				c.Errorf("contender %d: %v", i, err)
			} else if took {
				won++
			}
		})
	}
	close(start)
	all.Wait()
	if failed > 0 {
		c.FailNow()
	}
	return won
}

// Rule 3, and the article's third exercise.
func TestEffectReclaimHasOneWinner(t *testing.T) {
	t.Parallel()
	for n, rounds := range raceRounds {
		c := newContest(t, n)
		for round := range rounds {
			won := c.winners(func(i int, conn *sql.Conn) (bool, error) {
				_, took, err := c.db.ClaimEffect(c.ctx, conn, store.EffectTry{Key: "k",
					Holder: store.EffectHolder{Name: fmt.Sprint(i), StaleAfter: 10 * time.Minute}})
				return took, err
			})
			if won != 1 {
				t.Fatalf("%d contenders, round %d: %d winners, want 1", n, round, won)
			}
		}
	}
}

// The two broken variants. A test that cannot tell them from the right one is none.
func TestBrokenEffectReclaimsLetAllWin(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 16} {
		c := newContest(t, n)
		for round := range 10 {
			// It moves the holder, but not what its condition tests: who waited for
			// the lock finds the condition true again.
			won := c.winners(func(i int, conn *sql.Conn) (bool, error) {
				r, err := conn.ExecContext(c.ctx, `update tekrar.effect_claims set holder = $1 where key = 'k' and state = 1
					and claimed_at < clock_timestamp() - interval '10 min'`, fmt.Sprint(i))
				if err != nil {
					return false, err
				}
				rows, err := r.RowsAffected()
				return rows == 1, err
			})
			if won != n {
				t.Errorf("column not moved, %d contenders, round %d: %d winners: this control no longer shows the fault", n, round, won)
			}
			// It looks first and then writes: all have looked before one writes.
			var looked sync.WaitGroup
			looked.Add(n)
			won = c.winners(func(i int, conn *sql.Conn) (bool, error) {
				var stale bool
				err := conn.QueryRowContext(c.ctx, `select state = 1 and claimed_at < clock_timestamp() - interval '10 min' from tekrar.effect_claims where key = 'k'`).Scan(&stale)
				looked.Done()
				if err != nil || !stale {
					return false, err
				}
				looked.Wait()
				_, err = conn.ExecContext(c.ctx, `update tekrar.effect_claims set holder = $1, claimed_at = clock_timestamp() where key = 'k'`, fmt.Sprint(i))
				return err == nil, err
			})
			if won != n {
				t.Errorf("looked first, %d contenders, round %d: %d winners: this control no longer shows the fault", n, round, won)
			}
		}
	}
}

// A contender that waited for the row's lock must not judge a holder that began
// meanwhile: its snapshot is from before that job ran, and shows it as gone.
func TestWaitingContenderDoesNotTakeALiveClaim(t *testing.T) {
	e := writeSetup(t)
	c := &contest{engine: e}
	c.abandoned()
	took := make(chan bool, 1)
	err := e.db.Tx(e.ctx, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(e.ctx, `select 1 from tekrar.effect_claims for update`); err != nil {
			return err
		}
		go func() {
			_, won, err := e.db.ClaimEffect(context.Background(), nil, store.EffectTry{Key: "k", Holder: store.EffectHolder{Name: "waited", StaleAfter: time.Minute}})
			took <- won || err != nil
		}()
		until(t, "the contender waits for the lock", func() bool {
			return e.count(`select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`) == 1
		})
		job := e.running()
		_, won, err := e.db.ClaimEffect(e.ctx, tx, store.EffectTry{Key: "k", Holder: store.EffectHolder{
			JobID: job.ID, Attempt: job.Attempt, Server: e.server, Name: "lives", StaleAfter: time.Minute}})
		if err == nil && !won {
			t.Error("the job did not get the stale claim")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if <-took {
		t.Error("the contender took the claim of a running job")
	}
}
