package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
)

// The list that a bar of the attempts chart opens holds the jobs that ended from the
// bar's begin until before its end, on whatever page, and is not walked beyond: not
// over the thousands of newer ones, nor over the thousands of older ones after its
// last page.
func TestListsWithinATimeStopAtBothBounds(t *testing.T) {
	for _, state := range []store.State{store.Succeeded, store.Failed, store.Deleted} {
		t.Run(state.String(), func(t *testing.T) {
			ctx, db := readSetup(t)
			const n = 8000 // one a second
			from := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
			to := from.Add(2 * time.Minute)
			at := fmt.Sprintf(`timestamptz '%s' + (g - %d) * interval '1 second'`, from.Format(time.RFC3339), n/2)
			texts := []string{
				fmt.Sprintf(`insert into tekrar.jobs (id, queue, kind, args) select g, 'default', 'k' || g %% 3, '{}' from generate_series(1, %d) g`, n),
				fmt.Sprintf(`insert into tekrar.history (job_id, at, attempt, state, queue, kind) select g, %s, 1, %d, 'default', 'k' || g %% 3 from generate_series(1, %d) g order by g`, at, state, n),
				// Just outside of both bounds and just inside, and out of the order of ids.
				fmt.Sprintf(`update tekrar.history set at = '%s' where job_id = %d`, from.Add(-time.Microsecond).Format(time.RFC3339Nano), n/2+3),
				fmt.Sprintf(`update tekrar.history set at = '%s' where job_id = %d`, to.Format(time.RFC3339Nano), n/2+100),
				fmt.Sprintf(`update tekrar.history set at = '%s' where job_id = %d`, to.Add(-time.Microsecond).Format(time.RFC3339Nano), n/2+140),
				fmt.Sprintf(`update tekrar.history set at = '%s' where job_id = %d`, from.Format(time.RFC3339Nano), n/2-20),
			}
			if state == store.Failed {
				texts = append(texts, `insert into tekrar.failed (job_id, failed_at, attempt, queue, kind, error_type, error_line) select job_id, at, 1, queue, kind, 'e', 'e' from tekrar.history`)
			}
			execAll(t, db, texts...)
			inside := func(i int64) bool { return i >= n/2 && i < n/2+120 }
			for _, kind := range []string{"", "k1"} {
				var want []int64
				for i := int64(1); i <= n; i++ {
					in := inside(i) && i != n/2+3 && i != n/2+100 || i == n/2+140 || i == n/2-20
					if in && (kind == "" || i%3 == 1) {
						want = append(want, i)
					}
				}
				f := store.JobFilter{State: state, Kind: kind, Limit: 25, Query: query(t, "finished>2026-03-01T12:00 finished<2026-03-01T12:02")}
				rows := jobIDs(walk(t, db, f))
				if slices.Sort(rows); !slices.Equal(rows, want) {
					t.Errorf("kind %q: %d jobs %v, want %d %v", kind, len(rows), rows, len(want), want)
				}
				pages, last := 0, f
				for {
					page, next, err := db.Jobs(ctx, last)
					if err != nil {
						t.Fatal(err)
					}
					pages++
					if next.IsZero() != (len(page) < f.Limit || pages*f.Limit == len(want)) {
						t.Errorf("page %d has %d rows, next %q", pages, len(page), next)
					}
					if next.IsZero() || pages > 20 {
						break
					}
					last.After = next
				}
				for what, g := range map[string]store.JobFilter{"all": f, "after the first page": last} {
					if seen, err := db.Walked(ctx, g); err != nil || seen > n/8 {
						t.Errorf("kind %q, %s: %d of %d rows looked at, %v", kind, what, seen, n, err)
					}
				}
				if c, err := db.CountJobs(ctx, f); err != nil || c != (store.Count{N: int64(len(want))}) {
					t.Errorf("kind %q: count %v, %v", kind, c, err)
				}
			}
			for text, want := range map[string]int{"finished<2026-03-01T10:53:22": 1, "finished>2026-03-01T13:06:39": 2, "-finished>2026-03-01T12:00": n/2 - 1, "finished>2026-03-01T12:01 finished<2026-03-01T12:00": 0} {
				f := store.JobFilter{State: state, Limit: 500, Query: query(t, text)}
				if got := len(walk(t, db, f)); got != want {
					t.Errorf("%s: %d jobs, want %d", text, got, want)
				}
			}
		})
	}
}
