package bookstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// scenarios are the cards of the lab, in the order of the page.
func scenarios() []scenario {
	return []scenario{
		{"naive-twice", "Look, send, record: twice at once",
			"Two jobs mail one invoice at the same time. Each looks whether the mail is recorded, sends it, and records it.",
			"Two mails: both look before either has recorded anything.", twice(naive, 2)},
		{"claim-first-twice", "Claim first: twice at once",
			"The same two jobs, but each claims the mail in the database before it sends.",
			"One mail: the second job finds the claim.", twice(claimFirst, 1)},
		{"killed-after-claim", "Killed between claim and send",
			"A real worker process is killed (SIGKILL) after it claimed the mail and before it sent it. Another process runs the job again: once with the claim of the article, once with the toolkit.",
			"Claim first: no mail, and the job succeeds all the same, so nobody notices. Toolkit: one mail.", killedAfterClaim},
		{"killed-after-send", "Killed after the send",
			"The worker process is killed when the provider has answered and nothing is written down yet. The provider honours idempotency keys.",
			"One mail: the second request gets the same message id, with replayed = true.", killedAfterSend},
		{"killed-no-keys", "Killed after the send, and the provider knows no keys",
			"The same, at a provider that delivers every request. Nobody can know whether the mail went out, so the toolkit holds the job.",
			"One mail. The job fails as \"outcome unknown\" and sends nothing more; a person looks at the provider and decides.", killedWithoutKeys},
		{"timeout", "Timeout after the delivery",
			"The provider delivers the mail, and its answer never comes. The retry cannot know.",
			"Naive: two mails. Claim first: one, but its row says \"sending\" for ever. Toolkit: one, and the retry gets the receipt.", timeoutAfterDelivery},
		{"stock", "One sale, booked three times",
			"Eight books are in stock, one is sold, and the job that books it runs three times, because its result is lost twice.",
			"Subtracting ends at 5. Setting the quantity, or adding a movement with an id of its own, ends at 7.", stockThreeWays},
	}
}

type variant struct {
	name string
	args func(invoice int64) jobs.Args
}

var (
	naive      = variant{"Naive", func(id int64) jobs.Args { return InvoiceEmailNaive{InvoiceID: id} }}
	claimFirst = variant{"Claim first", func(id int64) jobs.Args { return InvoiceEmailClaimFirst{InvoiceID: id} }}
	toolkit    = variant{"Toolkit", func(id int64) jobs.Args { return InvoiceEmailToolkit{InvoiceID: id} }}
	holding    = variant{"Toolkit without keys", func(id int64) jobs.Args { return InvoiceEmailToolkit{InvoiceID: id, Provider: "hold"} }}
)

func twice(v variant, want int) func(context.Context, *stage) (string, bool, error) {
	return func(ctx context.Context, s *stage) (string, bool, error) {
		id, err := s.invoice(ctx)
		if err != nil {
			return "", false, err
		}
		done, err := s.atOnce(ctx, want, mailing{v.name, id, v.args(id)})
		if err != nil {
			return "", false, err
		}
		mails := s.provider.Delivered(recipient(id))
		verdict := fmt.Sprintf("%s, invoice %d: %s; %s.", v.name, id, mailsInWords(mails), outcomes(done...))
		return verdict, len(mails) == want && succeeded(done...), nil
	}
}

// mailings is one invoice for each variant, all with the same script.
func (s *stage) mailings(ctx context.Context, variants []variant, script ...Switches) ([]mailing, error) {
	var mails []mailing
	for _, v := range variants {
		id, err := s.invoice(ctx, script...)
		if err != nil {
			return nil, err
		}
		mails = append(mails, mailing{v.name, id, v.args(id)})
	}
	return mails, nil
}

// counted words what came of one invoice, and gives the number of its mails.
func (s *stage) counted(m mailing, done store.JobDetail) (string, int) {
	ids := s.provider.Delivered(recipient(m.invoice))
	return fmt.Sprintf("%s, invoice %d: %s; %s", m.variant, m.invoice, mailsInWords(ids), outcomes(done)), len(ids)
}

func killedAfterClaim(ctx context.Context, s *stage) (string, bool, error) {
	mails, err := s.mailings(ctx, []variant{claimFirst, toolkit})
	if err != nil {
		return "", false, err
	}
	done, err := s.killed(ctx, "claimed", mails...)
	if err != nil {
		return "", false, err
	}
	var verdicts []string
	good := succeeded(done...)
	for i, want := range []int{0, 1} {
		verdict, n := s.counted(mails[i], done[i])
		verdicts = append(verdicts, verdict+".")
		good = good && n == want
	}
	return strings.Join(verdicts, " "), good, nil
}

func killedAfterSend(ctx context.Context, s *stage) (string, bool, error) {
	id, err := s.invoice(ctx)
	if err != nil {
		return "", false, err
	}
	done, err := s.killed(ctx, "sent", mailing{invoice: id, args: toolkit.args(id)})
	if err != nil {
		return "", false, err
	}
	mails, replays := s.provider.Delivered(recipient(id)), s.provider.Replays(recipient(id))
	verdict := fmt.Sprintf("Toolkit, invoice %d: %s, replayed = %v; %s.", id, mailsInWords(mails), replays == 1, outcomes(done...))
	return verdict, len(mails) == 1 && replays == 1 && succeeded(done...), nil
}

func killedWithoutKeys(ctx context.Context, s *stage) (string, bool, error) {
	id, err := s.invoice(ctx)
	if err != nil {
		return "", false, err
	}
	done, err := s.killed(ctx, "sent", mailing{invoice: id, args: holding.args(id)})
	if err != nil {
		return "", false, err
	}
	mails := s.provider.Delivered(recipient(id))
	verdict := fmt.Sprintf("%s, invoice %d: %s; %s and waits for a person: %s.", holding.name, id, mailsInWords(mails), outcomes(done...), done[0].ErrorLine)
	held := done[0].State == store.Failed && strings.Contains(done[0].ErrorLine, "outcome unknown")
	return verdict, len(mails) == 1 && held, nil
}

func timeoutAfterDelivery(ctx context.Context, s *stage) (string, bool, error) {
	mails, err := s.mailings(ctx, []variant{naive, claimFirst, toolkit}, Switches{Silent: true})
	if err != nil {
		return "", false, err
	}
	done, err := s.through(ctx, mails[0].args, mails[1].args, mails[2].args)
	if err != nil {
		return "", false, err
	}
	var verdicts []string
	good := succeeded(done...)
	for i, want := range []int{2, 1, 1} {
		verdict, n := s.counted(mails[i], done[i])
		if mails[i].variant == claimFirst.name {
			status, err := s.tables.mailStatus(ctx, claimFirstKey(mails[i].invoice))
			if err != nil {
				return "", false, err
			}
			verdict += fmt.Sprintf(", its row says %q", status)
			good = good && status == "sending"
		}
		verdicts = append(verdicts, verdict+".")
		good = good && n == want
	}
	return strings.Join(verdicts, " "), good, nil
}

func stockThreeWays(ctx context.Context, s *stage) (string, bool, error) {
	n, err := s.tables.nextInvoice(ctx)
	if err != nil {
		return "", false, err
	}
	book := func(way string) string { return fmt.Sprintf("sale %d, %s", n, way) }
	ways := []struct {
		name string
		args jobs.Args
		want int
	}{
		{"subtracting", StockDecrement{Book: book("subtracting"), Loses: 2}, 5},
		{"setting", StockSet{Book: book("setting"), Quantity: 7, Loses: 2}, 7},
		{"ledger", StockMovement{Book: book("ledger"), Movement: fmt.Sprintf("sale-%d", n), Change: -1, Loses: 2}, 7},
	}
	var args []jobs.Args
	for _, w := range ways {
		if err := s.tables.putStock(ctx, book(w.name), 8); err != nil {
			return "", false, err
		}
		args = append(args, w.args)
	}
	done, err := s.through(ctx, args...)
	if err != nil {
		return "", false, err
	}
	var parts []string
	good := succeeded(done...)
	for i, w := range ways {
		left, err := s.tables.stockOf(ctx, book(w.name))
		if err != nil {
			return "", false, err
		}
		parts = append(parts, fmt.Sprintf("%s %d after %d runs", w.name, left, done[i].Attempt))
		good = good && left == w.want && done[i].Attempt == 3
	}
	return fmt.Sprintf("Stock 8, one sale (no. %d): %s.", n, strings.Join(parts, ", ")), good, nil
}

// outcomes says how the jobs ended: "job 7 succeeded at attempt 2".
func outcomes(done ...store.JobDetail) string {
	var parts []string
	for _, d := range done {
		parts = append(parts, fmt.Sprintf("job %d %s at attempt %d", d.ID, d.State, d.Attempt))
	}
	return strings.Join(parts, ", ")
}

func succeeded(done ...store.JobDetail) bool {
	for _, d := range done {
		if d.State != store.Succeeded {
			return false
		}
	}
	return true
}
