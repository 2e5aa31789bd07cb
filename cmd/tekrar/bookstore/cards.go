package bookstore

import (
	"fmt"
	"strconv"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/web"
)

// Cards are the scenarios of the Demo page, in its order.
func Cards() []web.Card {
	return []web.Card{
		importCard(), reconcileCard(), orderCard(), reportCard(), laterCard(), burstCard(),
	}
}

const mostJobs = 100 // of one press, where each job is worth a look

func importCard() web.Card {
	return web.Card{
		Key: "import", Title: "A supplier that answers late", Kind: InvoiceImport{}.Kind(),
		Story:  "The supplier does not answer the first two calls. The error is transient: retries wait 2 s, then 5 s.",
		Expect: "Attempts 1 and 2 fail, attempt 3 succeeds about 8 s after the first one started.",
		Fields: []web.Field{{Name: "invoice_id", Label: "Invoice", Value: "7001", Number: true}},
		Count:  1, MaxCount: mostJobs,
		Item: func(v map[string]string, _ int) (jobs.Item, error) {
			id, err := number(v, "invoice_id", 1, 1<<53)
			return jobs.Item{Args: InvoiceImport{InvoiceID: id}}, err
		},
	}
}

func reconcileCard() web.Card {
	return web.Card{
		Key: "reconcile", Title: "An error that no retry can heal", Kind: InvoiceReconcile{}.Kind(),
		Story:  "The invoice's month is closed. The policy lists that error under ExceptOn, so its three retries stay unused.",
		Expect: "Attempt 1 fails, and the job stays failed until you run it once more, give it a fresh budget or delete it.",
		Fields: []web.Field{{Name: "invoice_id", Label: "Invoice", Value: "7001", Number: true}},
		Count:  1, MaxCount: mostJobs,
		Item: func(v map[string]string, _ int) (jobs.Item, error) {
			id, err := number(v, "invoice_id", 1, 1<<53)
			return jobs.Item{Args: InvoiceReconcile{InvoiceID: id}}, err
		},
	}
}

func orderCard() web.Card {
	return web.Card{
		Key: "order", Title: "A mail server that is down", Kind: OrderConfirmation{}.Kind(),
		Story:  "The mail server turns the first attempts down. Retries wait 1, 5 and 15 minutes; but it forgets idempotency keys after 5 minutes, so the Servers page warns of this kind.",
		Expect: "With one refusal, attempt 1 fails and attempt 2 succeeds a minute later.",
		Fields: []web.Field{
			{Name: "order_id", Label: "Order", Value: "42", Number: true},
			{Name: "refusals", Label: "Refusals", Value: "1", Number: true, Hint: "0 to 4; 4 uses up every retry"},
		},
		Count: 1, MaxCount: mostJobs,
		Item: func(v map[string]string, _ int) (jobs.Item, error) {
			id, err := number(v, "order_id", 1, 1<<53)
			if err != nil {
				return jobs.Item{}, err
			}
			refusals, err := number(v, "refusals", 0, 4)
			return jobs.Item{Args: OrderConfirmation{OrderID: id, Refusals: int(refusals)}}, err
		},
	}
}

func reportCard() web.Card {
	return web.Card{
		Key: "report", Title: "A job that takes its time", Kind: NightlyReport{}.Kind(),
		Story:  "The report adds up twenty shops and listens to its context between them. Delete it while it runs, or stop the program.",
		Expect: "It is processing for the given seconds and then succeeds; deleted while it runs, it stops within 2 s.",
		Fields: []web.Field{
			{Name: "day", Label: "Day", Value: "2026-01-31", Hint: "as 2026-01-31"},
			{Name: "seconds", Label: "Seconds", Value: "20", Number: true, Hint: "0 to 60"},
		},
		Count: 1, MaxCount: mostJobs,
		Item: func(v map[string]string, _ int) (jobs.Item, error) {
			if _, err := time.Parse(time.DateOnly, v["day"]); err != nil {
				return jobs.Item{}, fmt.Errorf("day is %q, must be a date like 2026-01-31", v["day"])
			}
			seconds, err := number(v, "seconds", 0, 60)
			return jobs.Item{Args: NightlyReport{Day: v["day"], Seconds: int(seconds)}}, err
		},
	}
}

func laterCard() web.Card {
	return web.Card{
		Key: "later", Title: "An order for later", Kind: OrderConfirmation{}.Kind(),
		Story:  "The job is scheduled, not enqueued: no worker sees it before its time.",
		Expect: "It waits 30 s as scheduled and then succeeds at attempt 1, never early.",
		Fields: []web.Field{{Name: "order_id", Label: "Order", Value: "43", Number: true}},
		Count:  1, MaxCount: mostJobs, Delay: 30 * time.Second,
		Item: func(v map[string]string, _ int) (jobs.Item, error) {
			id, err := number(v, "order_id", 1, 1<<53)
			return jobs.Item{Args: OrderConfirmation{OrderID: id}}, err
		},
	}
}

func burstCard() web.Card {
	return web.Card{
		Key: "burst", Title: "A burst of 1,000", Kind: Flaky{}.Kind(),
		Story:  "A thousand orders to a publisher whose service is up part of the time. Watch the Attempts page.",
		Expect: "At 80 %, about 800 succeed at attempt 1, most of the others at 2 or 3, and about 20 end failed.",
		Fields: []web.Field{{Name: "rate", Label: "First-attempt success in %", Value: "80", Number: true, Hint: "0 to 100"}},
		Count:  1000, MaxCount: 10_000,
		Item: func(v map[string]string, _ int) (jobs.Item, error) {
			rate, err := number(v, "rate", 0, 100)
			return jobs.Item{Args: Flaky{Rate: int(rate), Millis: 20, SoldOut: 2}}, err
		},
	}
}

// number reads a whole number within its limits.
func number(values map[string]string, name string, low, high int64) (int64, error) {
	n, err := strconv.ParseInt(values[name], 10, 64)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("%s is %q, must be a whole number from %d to %d", name, values[name], low, high)
	}
	return n, nil
}
