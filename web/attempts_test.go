package web_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/web"
)

// parcel succeeds at the attempt At; 0: never, 9: at once not and for good.
type parcel struct {
	At int `json:"at"`
}

func (parcel) Kind() string { return "parcel" }

var barPart = regexp.MustCompile(`<a href="([^"]+)" tabindex="-1"><rect class="hit"[^>]*><title>[^:]+:\d\d–\d\d:\d\d: (\d+) ([^<]+) of \d+ finished</title>`)

// Every part of a bar opens a list with as many jobs as it counts, and of its attempt
// and outcome; so does every number of the table.
func TestBarsOpenExactlyTheirJobs(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}, client: jobs.Config{Workers: 8, Version: "v1.2 (b-3)"}})
	jobs.Handle(x.client, func(_ context.Context, j *jobs.Job[parcel]) error {
		switch {
		case j.Args.At == 9:
			return jobs.Permanent(errors.New("no such address"))
		case j.Attempt != j.Args.At:
			return errors.New("nobody there")
		}
		return nil
	}, jobs.Retry(jobs.RetryPolicy{MaxRetries: 4, Delays: []time.Duration{time.Millisecond}}))
	want := map[string]int{}
	for at, n := range map[int]int{1: 7, 2: 5, 3: 4, 4: 2, 5: 1, 0: 3, 9: 6} {
		name := map[int]string{1: "1st attempt", 2: "2nd attempt", 3: "3rd attempt", 4: "4th or later", 5: "4th or later", 0: "retries used up", 9: "not retryable"}[at]
		want[name] += n
		for range n {
			if _, err := x.client.Enqueue(t.Context(), parcel{At: at}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 3 { // of another kind, which the filter leaves out
		x.enqueue(note{Text: "fine"})
	}
	x.work()
	x.until("all jobs ended", func() bool {
		c, err := x.db.Counts(t.Context())
		return err == nil && c[store.Succeeded].N == 22 && c[store.Failed].N == 9
	})
	const version = "&version=v1.2+%28b-3%29"
	for _, span := range []string{"1h", "6h", "24h", "7d", "30d", "1h" + version} {
		page := x.get("/attempts?kind=parcel&span="+span).wants(t, 200, "What retries cost", "usual not known yet")
		got := map[string]int{}
		for _, m := range barPart.FindAllStringSubmatch(page.body, -1) {
			n, _ := strconv.Atoi(m[2])
			got[m[3]] += n
			address := html.UnescapeString(m[1])
			list := x.get(address).wants(t, 200, fmt.Sprintf("<b>%d</b>", n))
			if rows := strings.Count(list.body, `id="job-row-`); rows != n {
				t.Errorf("%s: a bar of %d %s opens %d jobs: %s", span, n, m[3], rows, address)
			}
			if !strings.Contains(page.body, `<td class="n"><a href="`+m[1]+`">`+m[2]+`</a></td>`) {
				t.Errorf("%s: the table has no link %s", span, m[1])
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: bars %v, want %v", span, got, want)
		}
	}
	x.get("/attempts?kind=parcel&version=v1.1").wants(t, 200, "Nothing finished in the last 6 h.", `<option value="v1.2 (b-3)">`)
	x.get("/servers").wants(t, 200, `href="/attempts?version=v1.2+%28b-3%29"`)
	x.get("/attempts?span=2h").wants(t, 400, "1h, 6h, 24h, 7d, 30d")
	x.get("/attempts?kind=parcel").wants(t, 200, "63 attempts for 28 jobs begun, 2.25 a job", "12 jobs succeeded after a failure", ">3 of 10<")
}

// The verdict carries the warning while it lasts.
func TestVerdictWarnsEarly(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	x.enqueue(note{Text: "one"})
	x.work()
	x.past(`insert into tekrar.stats (minute, server, n, run_us, wait_us, outcome, attempt, bucket, queue, kind)
		select date_trunc('hour', now(), 'UTC') - h * interval '1 hour', 0, o.n, 0, 0, o.outcome, 1, 0, 'default', 'mail'
		from generate_series(13, 24 * 8) h cross join (values (1, 980), (2, 20)) o (outcome, n)`)
	x.past(`insert into tekrar.stats (minute, server, n, run_us, wait_us, outcome, attempt, bucket, queue, kind)
		select date_trunc('minute', now()) - m * interval '1 minute', 1, o.n, 0, 0, o.outcome, 1, 0, 'default', 'mail'
		from generate_series(0, 20) m cross join (values (1, 80), (2, 20)) o (outcome, n)`)
	page := x.get("/").wants(t, 200, "First attempts succeed less often than usual since ", "80.0 % of 500 lately; usual are 98.0 %", "yesterday 98.0 %")
	if strings.Contains(page.body, "of first attempts succeeded in the last hour") {
		t.Error("said twice")
	}
	x.get("/attempts").wants(t, 200, "usual <b>98.0 %</b>", "95 % band 7")
}

var (
	nextPage = regexp.MustCompile(`rel="next" href="([^"]+)"`)
	jobRow   = regexp.MustCompile(`id="job-row-(\d+)"`)
)

// A bar with more jobs than a page opens them all, page by page, and none of those
// that ended just before it or just after.
func TestBarListEndsAtItsBounds(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	x.past(`insert into tekrar.jobs (id, queue, kind, args) select g, 'default', 'mail', '{}' from generate_series(1, 200) g`)
	x.past(`insert into tekrar.history (job_id, at, attempt, state, queue, kind)
		select g, b.at + case when g <= 30 then interval '-1 us' when g <= 100 then interval '0' when g <= 150 then interval '5 min -1 us' else interval '5 min' end, 1, 4, 'default', 'mail'
		from generate_series(1, 200) g, (select to_timestamp(floor(extract(epoch from now()) / 300) * 300 - 3600) as at) b order by g`)
	x.past(`insert into tekrar.stats (minute, server, n, run_us, wait_us, outcome, attempt, bucket, queue, kind)
		select date_trunc('minute', at), 0, count(*), 0, 0, 1, 1, 0, queue, kind from tekrar.history group by 1, queue, kind`)
	page := x.get("/attempts").wants(t, 200)
	for _, m := range barPart.FindAllStringSubmatch(page.body, -1) {
		if m[2] != "120" {
			continue
		}
		seen, pages := map[string]bool{}, 0
		for address := html.UnescapeString(m[1]); address != ""; pages++ {
			list := x.get(address).wants(t, 200, "<b>120</b>")
			for _, row := range jobRow.FindAllStringSubmatch(list.body, -1) {
				if id, _ := strconv.Atoi(row[1]); id <= 30 || id > 150 || seen[row[1]] {
					t.Errorf("job %s is listed on page %d", row[1], pages+1)
				}
				seen[row[1]] = true
			}
			address = ""
			if next := nextPage.FindStringSubmatch(list.body); next != nil {
				address = html.UnescapeString(next[1])
			} else if !strings.Contains(list.body, "end of the list") || strings.Contains(list.body, "took too long") {
				t.Errorf("the last page does not say that it is")
			}
		}
		if len(seen) != 120 || pages != 3 {
			t.Errorf("%d jobs on %d pages, want 120 on 3", len(seen), pages)
		}
		return
	}
	t.Errorf("no bar of 120 jobs in %v", barPart.FindAllString(page.body, -1))
}
