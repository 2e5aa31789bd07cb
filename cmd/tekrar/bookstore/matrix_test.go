package bookstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// policies are the columns of the matrix: a provider with keys, and one without under
// both policies.
var policies = [3]string{"keys", "hold", "resend"}

const (
	once   = "1 done succeeded"
	held   = "1 unknown held"
	unsent = "0 unknown held"
	twoOut = "2 done succeeded"
)

// matrix is what becomes of one mail under each fault: mails, claim, job. "held" is a
// job that failed because the outcome is unknown.
var matrix = []struct {
	fault string
	play  func(*trial) error
	want  [3]string
}{
	{"none", through, [3]string{once, once, once}},
	{"kill after claim", killedAt("claimed"), [3]string{once, once, once}},
	{"kill after begin, before send", killedAt("begun"), [3]string{once, unsent, once}},
	{"connection refused", refusedFirst, [3]string{once, once, once}},
	{"timeout, request never arrived", swallowedFirst, [3]string{once, unsent, once}},
	{"timeout, provider had processed", unanswered, [3]string{once, held, twoOut}},
	{"kill after send", killedAt("sent"), [3]string{once, held, twoOut}},
	{"mark fails, database down", databaseDown, [3]string{once, once, once}},
	{"kill after mark", killedAt("marked"), [3]string{once, once, once}},
	{"commit reported an error", commitLost, [3]string{once, once, once}},
	{"second job at once", twoJobs, [3]string{once, once, once}},
	{"paused past its lease after claim", pausedAt("claimed"), [3]string{once, once, once}},
	// The paused one sends after all, and its receipt settles what nobody knew.
	{"paused between begin and send", pausedAt("begun"), [3]string{once, "1 done held", twoOut}},
	{"answer after the lease ended", pausedAt("sent"), [3]string{once, "1 done held", twoOut}},
	{"kill after send on every attempt", killedEachTime, [3]string{"1 unknown failed", held, "4 unknown failed"}},
	{"processed, retried after the key's life", keyExpired, [3]string{held, held, twoOut}},
}

// The failure matrix: every fault at every policy, with real processes, a real
// SIGKILL or SIGSTOP, a real database connection that breaks.
func TestFailureMatrix(t *testing.T) {
	t.Parallel()
	if storetest.Server(t) == nil {
		t.Skip("needs the socket of a server of its own")
	}
	l := openTestLab(t)
	pages := openPages(t, l)
	const atOnce = 8 // rows: they mostly wait for leases and timeouts
	got := make([][len(policies)]string, len(matrix))
	slots, all := make(chan struct{}, atOnce), sync.WaitGroup{}
	for i, row := range slices.Backward(matrix) { // the longest are the last
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			t.Run(row.fault, func(t *testing.T) {
				tr := newTrial(t, l, fmt.Sprint("row-", i))
				if err := row.play(tr); err != nil {
					t.Fatal(err)
				}
				for p, policy := range policies {
					outcome := tr.outcome(p)
					pages.tell(t, tr.done[p], tr.invoices[p], outcome)
					if got[i][p] = outcome; outcome != row.want[p] {
						t.Errorf("%s: %s, want %s: %s", policy, outcome, row.want[p], tr.done[p].ErrorLine)
					}
				}
			})
		})
	}
	all.Wait()
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 3, ' ', 0)
	fmt.Fprintf(w, "fault\t%s\n", strings.Join([]string{"provider with keys", "no keys, hold", "no keys, resend"}, "\t"))
	for i, row := range matrix {
		fmt.Fprintf(w, "%s\t%s\n", row.fault, strings.Join(got[i][:], "\t"))
	}
	w.Flush()
	t.Log("mails, claim, job\n" + table.String())
}

// trial is one row: one invoice for each policy, on a queue of its own.
type trial struct {
	*testing.T
	*stage
	lab      lab
	ctx      context.Context
	invoices []int64
	ids      []int64
	done     []store.JobDetail
}

func newTrial(t *testing.T, l lab, queue string) *trial {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	t.Cleanup(cancel)
	own := *l.Lab
	tr := &trial{T: t, stage: &stage{&own, &jobs.Job[Scenario]{}, queue}, lab: l, ctx: ctx}
	for range policies {
		id, err := tr.invoice(ctx)
		if err != nil {
			t.Fatal(err)
		}
		tr.invoices = append(tr.invoices, id)
	}
	return tr
}

// script sets what the provider does to the first requests for each invoice.
func (tr *trial) script(s ...Switches) {
	for _, id := range tr.invoices {
		tr.provider.Script(recipient(id), s...)
	}
}

// send enqueues the mails.
func (tr *trial) send() error {
	var args []jobs.Args
	for i, p := range policies {
		args = append(args, InvoiceEmailToolkit{InvoiceID: tr.invoices[i], Provider: p})
	}
	ids, err := tr.enqueue(tr.ctx, args...)
	tr.ids = append(tr.ids, ids...)
	return err
}

// start is a worker process for the row's queue that is killed, if it still lives, at the end.
func (tr *trial) start(settings ...string) (*process, error) {
	w, err := tr.worker(settings...)
	if err == nil {
		tr.Cleanup(w.kill)
	}
	return w, err
}

// at are the settings that make a worker stop at points.
func (tr *trial) at(points string) []string {
	return []string{"point=" + points, "invoices=" + strings.Trim(strings.ReplaceAll(fmt.Sprint(tr.invoices), " ", ","), "[]")}
}

// reached waits until n mails stand at a point.
func (tr *trial) reached(w *process, point string, n int) error {
	for range n {
		if err := w.line(tr.ctx, "reached "+point); err != nil {
			return err
		}
	}
	return nil
}

// finish waits for the jobs' ends and then for that of the worker that runs them.
func (tr *trial) finish(w *process) (err error) {
	if tr.done, err = tr.ended(tr.ctx, tr.ids...); err != nil {
		return err
	}
	return w.stop()
}

// patient is a lease that a loaded machine does not lose.
const patient = "lease=30s"

// outcome is mails, claim, job of one policy, and what must hold in every row.
func (tr *trial) outcome(p int) string {
	tr.Helper()
	key := idempotency.NewKey("invoice-email", tr.invoices[p]).String()
	claim, err := tr.lab.db.Effect(tr.ctx, key)
	if err != nil {
		tr.Fatal(err)
	}
	d, mails := tr.done[p], len(tr.provider.Delivered(recipient(tr.invoices[p])))
	state := d.State.String()
	if d.State == store.Failed && strings.Contains(d.ErrorLine, "outcome unknown") {
		state = "held"
	}
	if d.State == store.Succeeded && claim.State.Unsettled() {
		tr.Errorf("%s: the job succeeded and its claim is %s", policies[p], claim.State)
	}
	switch {
	case policies[p] == "keys" && mails != 1, policies[p] == "hold" && mails > 1, policies[p] == "resend" && mails == 0:
		tr.Errorf("%s: %d mails", policies[p], mails)
	}
	// Two mails under one key are noticed wherever both receipts arrived.
	if claim.Duplicates > max(mails-1, 0) {
		tr.Errorf("%s: %d duplicates of %d mails", policies[p], claim.Duplicates, mails)
	}
	return fmt.Sprintf("%d %s %s", mails, claim.State, state)
}
