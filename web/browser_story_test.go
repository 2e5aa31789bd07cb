package web_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/web"
)

// invoice fails for good while its provider is away; one of them always does.
type invoice struct {
	No int `json:"no"`
}

func (invoice) Kind() string { return "invoice" }

// failedInvoices are more than one chunk of a bulk operation, and more than can be
// requeued without typing their number.
const failedInvoices = 620

// The night watch by keyboard alone: the overview says that something fails, the
// group is found, looked at and requeued as a whole once the provider is back; its
// number falls to zero on an open page; a job is deleted and taken back.
func TestStoryByKeyboardOnly(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}, client: jobs.Config{Workers: 8}})
	var back atomic.Bool
	jobs.Handle(x.client, func(_ context.Context, j *jobs.Job[invoice]) error {
		switch {
		case j.Args.No == 0:
			return jobs.Permanent(errors.New("the customer has no address"))
		case !back.Load():
			return jobs.Permanent(fmt.Errorf("send invoice %d: connection refused", j.Args.No))
		}
		return nil
	})
	x.work()
	items := make([]jobs.Item, failedInvoices+1)
	for i := range items {
		items[i] = jobs.Item{Args: invoice{No: i}}
	}
	if _, err := x.client.EnqueueMany(t.Context(), items); err != nil {
		t.Fatal(err)
	}
	x.until("all have failed", func() bool { return x.number(`select count(*) from tekrar.failed`) == failedInvoices+1 })
	back.Store(true)

	k := newKeyboard(t, openBrowser(t))
	k.visit("http://" + x.host + "/")
	k.until(`document.querySelector("#live").dataset.mode === "live"`)
	k.until(`document.querySelector("#verdict").innerText.includes("621 failed jobs wait for a decision")`)
	k.done("overview")

	k.skip()
	k.to(`#verdict a[href="/failures"]`)
	k.done("verdict")
	k.hit(kb.Enter)
	k.until(`location.pathname === "/failures" && document.querySelector("#live").dataset.mode === "live"`)
	k.skip()
	k.to(`#failure-groups tr:first-child th a`)
	k.must(`document.activeElement.innerText.includes("connection refused")`)
	k.done("failing group")
	k.hit(kb.Enter)
	k.until(`location.pathname === "/jobs" && location.search.includes("group=") && document.querySelector("#live").dataset.mode === "live"`)
	k.must(`document.querySelector("#state-tabs [aria-current] b").innerText === "620"`)
	k.done("list of the group")

	k.skip()
	k.to(`a[href="#matching"]`)
	k.done("past the rows")
	k.hit(kb.Enter)
	k.to(`button[value=requeue][formaction]`)
	k.done("requeue all")
	k.hit(kb.Enter)
	k.until(`document.querySelector(".confirm h1").innerText === "Requeue all 620 jobs?"`)
	k.skip()
	k.to(`input[name=typed]`)
	k.typeText("620")
	k.to(`.confirm button[value=once]`)
	k.done("confirm")

	// The operation moves five hundred jobs at once; the rest waits for the test to look.
	release := x.lockOldestFailed()
	k.hit(kb.Enter)
	k.until(`location.pathname.startsWith("/bulk/") && document.querySelector("#live").dataset.mode === "live"`)
	k.until(`document.querySelector("#bulk-progress").innerText.includes("500 of 620")`)
	k.done("progress")
	k.to(`.wide a[href="/failures"]`)
	k.hit(kb.Enter)
	const groupN = `document.querySelector("#failure-groups tbody tr:first-child .f-n b").innerText`
	k.until(`location.pathname === "/failures" && document.querySelector("#live").dataset.mode === "live" && ` + groupN + ` === "120"`)
	k.must(`window.kept = "yes", document.querySelector("main").innerText.includes("121 failed jobs in 2 groups")`)
	k.done("half drained")
	release()
	k.until(`!document.querySelector("#failure-groups").innerText.includes("connection refused")`)
	k.must(`window.kept === "yes" && document.querySelectorAll("#failure-groups tbody tr").length === 1 && ` + groupN + ` === "1"`)
	k.must(`document.querySelector("main").innerText.includes("1 failed job in 1 group.")`)
	k.done("drained")
	x.until("all invoices are sent", func() bool {
		return x.number(`select count(*) from tekrar.history where kind = 'invoice' and state = 4`) == failedInvoices
	})

	k.skip()
	k.to(`#failure-groups tbody th a`)
	k.hit(kb.Enter)
	k.until(`location.pathname === "/jobs" && document.querySelector("#live").dataset.mode === "live"`)
	k.skip()
	k.to(`[data-all]`)
	k.hit(" ")
	k.to(`button[name=do][value=delete]`)
	k.done("tick and delete")
	k.hit(kb.Enter)
	k.until(`document.querySelector(".confirm h1").innerText === "Delete 1 job?"`)
	k.skip()
	k.to(`.confirm button[value=delete]`)
	k.done("confirm delete")
	k.hit(kb.Enter)
	k.until(`document.querySelector(".notice").innerText.includes("1 job deleted.")`)
	if n := x.number(`select count(*) from tekrar.failed`); n != 0 {
		t.Errorf("%d failed jobs after the deletion", n)
	}
	k.skip()
	k.to(`.notice button[value=restore]`)
	k.done("undo")
	k.hit(kb.Enter)
	k.until(`document.querySelector(".notice").innerText.includes("1 job restored.")`)
	k.done("restored")
	k.clean("story")

	t.Logf("%d keys in all", k.total)
	if k.total > 130 {
		t.Errorf("the story takes %d keys", k.total)
	}
	x.storyHappened()
}

// storyHappened looks at what the story left in the database.
func (x *site) storyHappened() {
	x.t.Helper()
	x.until("the restored job ran, and failed again", func() bool { return x.number(`select count(*) from tekrar.failed`) == 1 })
	for text, want := range map[string]int64{
		`select count(*) from tekrar.history where state = 4`:                                                                            failedInvoices,
		`select count(*) from tekrar.history where state = 5`:                                                                            failedInvoices + 2,
		`select count(*) from tekrar.history where state = 2 and reason like 'Requeued by %'`:                                            failedInvoices,
		`select count(*) from tekrar.history where state = 6 and reason like 'Deleted by %'`:                                             1,
		`select count(*) from tekrar.history where state = 2 and reason like 'Restored by %'`:                                            1,
		`select count(*) from tekrar.bulk_operations where state = 2 and done = 620 and expected = 620`:                                  1,
		`select count(*) from tekrar.audit where action in ('requeue all', 'delete', 'restore') and actor <> ''`:                         3,
		`select count(*) from tekrar.audit`:                                                                                              3,
		`select count(*) from tekrar.running`:                                                                                            0,
		`select count(*) from (select from tekrar.ready union all select from tekrar.scheduled union all select from tekrar.awaiting) w`: 0,
	} {
		if n := x.number(text); n != want {
			x.t.Errorf("%s: %d, want %d", text, n, want)
		}
	}
	if err := x.db.Check(context.Background()); err != nil {
		x.t.Error(err)
	}
}

// number asks the database itself.
func (x *site) number(text string) (n int64) {
	x.t.Helper()
	if err := x.db.GetContext(context.Background(), &n, text); err != nil {
		x.t.Fatal(err)
	}
	return n
}

// lockOldestFailed keeps everybody from moving the oldest failed job until release.
func (x *site) lockOldestFailed() (release func()) {
	x.t.Helper()
	tx, err := x.db.BeginTxx(context.Background(), nil)
	if err != nil {
		x.t.Fatal(err)
	}
	var id int64
	if err := tx.Get(&id, `select job_id from tekrar.failed where error_line like '%refused' order by failed_at, job_id limit 1 for update`); err != nil {
		x.t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(); err != nil {
			x.t.Error(err)
		}
	}
}
