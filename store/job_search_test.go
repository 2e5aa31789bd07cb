package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// LST-13: what is searched for is found literally, in every state, and nothing else.
func TestSearch_LST13(t *testing.T) {
	for _, state := range store.States {
		t.Run(state.String(), func(t *testing.T) {
			ctx, db := readSetup(t)
			odd := []string{"o'neil", "50%", "a_b", `back\slash`, `say "hi"`, "emoji 🐢", "10kB" + strings.Repeat("x", 500)}
			ids := map[string]int64{}
			for i, s := range odd {
				args := fmt.Sprintf(`{"who": %s, "n": %d, "deep": {"list": [1, {"at": "x%d"}]}}`, jsonText(s), i, i)
				ids[s] = put(t, db, past{states: way(state), args: args, kind: "k" + fmt.Sprint(i%2), queue: s})[0]
			}
			execAll(t, db, `update tekrar.jobs set tags = array['t1'] where args ->> 'n' = '3'`,
				`update tekrar.jobs set created_at = '2020-05-05 10:00' where args ->> 'n' = '4'`,
				`insert into tekrar.effect_claims (key, job_id, state, stale_at, stale_us) select 'mail-' || id, id, 4, now(), 0 from tekrar.jobs where args ->> 'n' = '5'`)
			all := []int64{ids[odd[0]], ids[odd[1]], ids[odd[2]], ids[odd[3]], ids[odd[4]], ids[odd[5]], ids[odd[6]]}
			find := func(text string, want ...int64) {
				t.Helper()
				f := store.JobFilter{State: state, Query: query(t, text), Limit: 2}
				got := jobIDs(walk(t, db, f))
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Errorf("%s: %v, want %v", text, got, want)
				}
				if c, err := db.CountJobs(ctx, f); err != nil || c != (store.Count{N: int64(len(want))}) {
					t.Errorf("%s: count %v, %v", text, c, err)
				}
			}
			for i, s := range odd {
				find(quoted(s), all[i])
				find("queue:"+quoted(s), all[i])
				find("args.who:"+quoted(s), all[i])
				find("args:"+quoted(s), all[i])
				find(fmt.Sprintf("args.n:%d", i), all[i])
			}
			find("%", all[1])
			find(`\`, all[3])
			find(`"`, all[4])
			find("'", all[0])
			find("kind:k1", all[1], all[3], all[5])
			find("kind:k1 -args.n:3", all[1], all[5])
			find("args.n>4", all[5], all[6])
			find("args.n:>3 args.n<6", all[4], all[5])
			find("args.deep.list.1.at:x2", all[2])
			find("tag:t1", all[3])
			find("-tag:t1 kind:k1", all[1], all[5])
			find("created:2020-05-05", all[4])
			find("created<2021-01-01 created>2020-05-05T10:00", all[4])
			find("created>2020-05-05T10:01", slices.Concat(all[:4], all[5:])...)
			find("key:mail-"+fmt.Sprint(all[5]), all[5])
			find("key:nobody")
			find(fmt.Sprintf("id:%d", all[2]), all[2])
			find(fmt.Sprintf("id>%d", all[4]), all[5], all[6])
			find(fmt.Sprintf("id:%d kind:k1", all[2]))
			find(fmt.Sprint(all[6]), all[6])
			find("nothing-of-this-kind")
			find("attempt>0", map[bool][]int64{true: all}[state != store.Enqueued && state != store.Scheduled && state != store.Awaiting]...)
			if ended := state == store.Succeeded || state == store.Failed || state == store.Deleted; ended {
				find("finished>2026-01-01", all...)
			} else {
				find("finished>2026-01-01")
			}
			if state == store.Failed {
				find("error:REFUSED error:net.", all...)
			}
			n, ok, err := db.StatesOf(ctx, store.JobFilter{Query: query(t, fmt.Sprintf("id:%d", all[0]))})
			if !ok || n[state] != 1 || err != nil {
				t.Errorf("states of one id: %v %v %v", n, ok, err)
			}
		})
	}
}

func quoted(s string) string {
	return `"` + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), `"`, `\"`) + `"`
}

func jsonText(s string) string { return quoted(s) }

// SCL-06: an exact id comes by key, however many jobs there are; a numeric
// argument is found, over pages that say that they go on.
func TestSearchAmongMany_SCL06(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), storetest.Fresh(t) // it leaves bloat
	fill(t, db, 60_000)
	execAll(t, db, `update tekrar.jobs set args = '{"order": 42}' where id = 41`)
	began := time.Now()
	rows, next, err := db.Jobs(ctx, store.JobFilter{State: store.Succeeded, Query: query(t, "id:17")})
	took := time.Since(began)
	if err != nil || len(rows) != 1 || rows[0].ID != 17 || !next.IsZero() {
		t.Fatalf("%v, %v, %v", rows, next, err)
	}
	if took > 50*time.Millisecond {
		began = time.Now() // the first time may have opened a connection
		if _, _, err := db.Jobs(ctx, store.JobFilter{State: store.Succeeded, Query: query(t, "id:18")}); err != nil || time.Since(began) > 50*time.Millisecond {
			t.Errorf("an exact id took %s, then %s, %v", took, time.Since(began), err)
		}
	}
	for _, text := range []string{"args.order:42", "args:42"} {
		if got := jobIDs(walk(t, db, store.JobFilter{State: store.Succeeded, Query: query(t, text)})); !slices.Equal(got, []int64{41}) {
			t.Errorf("%s: %v", text, got)
		}
	}
}
