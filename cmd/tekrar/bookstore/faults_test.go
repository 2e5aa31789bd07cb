package bookstore

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/store"
)

// Beyond the failure matrix: what a provider may answer to the first request, at one
// with keys and at one without, with both policies: mails, how the job ends, at which
// attempt.
func TestToolkitAgainstFaults(t *testing.T) {
	t.Parallel()
	l := openTestLab(t)
	for _, tt := range []struct {
		fault              string
		switches           Switches
		keys, hold, resend string
	}{
		{"refused", Switches{Refuse: true}, "1 succeeded 2", "1 succeeded 2", "1 succeeded 2"},
		{"throttled", Switches{Throttle: true}, "1 succeeded 2", "1 succeeded 2", "1 succeeded 2"},
		{"failed before", Switches{FailBefore: true}, "1 succeeded 2", "0 held 1", "1 succeeded 2"},
		{"failed after", Switches{FailAfter: true}, "1 succeeded 2", "1 held 1", "2 succeeded 2"},
		{"error kept", Switches{FailAfter: true, KeepErrors: true}, "1 held 2", "1 held 1", "2 succeeded 2"},
		{"dropped", Switches{Drop: true}, "1 succeeded 2", "1 held 1", "2 succeeded 2"},
	} {
		for provider, want := range map[string]string{"keys": tt.keys, "hold": tt.hold, "resend": tt.resend} {
			t.Run(tt.fault+" "+provider, func(t *testing.T) {
				t.Parallel()
				invoice, err := l.tables.nextInvoice(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				l.provider.Script(recipient(invoice), tt.switches)
				id := l.enqueue(t, InvoiceEmailToolkit{InvoiceID: invoice, Provider: provider})
				d := l.until(t, id, store.Succeeded, store.Failed)
				state := d.State.String()
				if d.State == store.Failed && strings.Contains(d.ErrorLine, "outcome unknown") {
					state = "held"
				}
				got := fmt.Sprintf("%d %s %d", len(l.provider.Delivered(recipient(invoice))), state, d.Attempt)
				if got != want {
					t.Errorf("%s, want %s: %s", got, want, d.ErrorLine)
				}
				// No row may end succeeded with an unsettled claim.
				settled := map[store.State]store.EffectState{store.Succeeded: store.EffectDone, store.Failed: store.EffectUnknown}
				claim, err := l.db.Effect(t.Context(), fmt.Sprintf("invoice-email:%d", invoice))
				if err != nil || claim.State != settled[d.State] {
					t.Errorf("claim is %s of a job %s: %v", claim.State, d.State, err)
				}
				calls, err := l.db.ProviderCalls(t.Context(), store.ProviderCallFilter{JobID: id})
				if err != nil || len(calls) != d.Attempt {
					t.Errorf("%d calls of %d attempts are recorded: %v", len(calls), d.Attempt, err)
				}
			})
		}
	}
}

func TestLabKindsRefuseBadArgs(t *testing.T) {
	t.Parallel()
	l := openTestLab(t)
	for _, tt := range []struct {
		kind, args, says string
	}{
		{"invoice-email-toolkit", `{"invoice_id":1,"provider":"pigeon"}`, "must be keys, hold or resend"},
		{"invoice-email-toolkit", `{"invoice_id":0}`, "invoice_id is 0"},
		{"invoice-email-naive", `{"invoice_id":-1}`, "invoice_id is -1"},
		{"invoice-email-claim-first", `{}`, "invoice_id is 0"},
		{"stock-decrement", `{"book":"nowhere"}`, `"nowhere" is not in stock`},
		{"stock-set", `{"book":"nowhere","quantity":7}`, "not in stock"},
		{"stock-movement", `{"book":"nowhere","movement":"m","change":-1}`, "not in stock"},
	} {
		r, err := l.Lab.client.EnqueueRaw(t.Context(), tt.kind, []byte(tt.args))
		if err != nil {
			t.Fatal(err)
		}
		d := l.until(t, r.ID, store.Failed, store.Succeeded)
		if d.State != store.Failed || d.Attempt != 1 || !strings.Contains(d.ErrorLine, tt.says) {
			t.Errorf("%s %s: %s at attempt %d, %q", tt.kind, tt.args, d.State, d.Attempt, d.ErrorLine)
		}
	}
	// A movement of an unknown book left nothing in the ledger.
	if found, err := l.tables.rowExists(t.Context(), `select 1 from bookstore.stock_movements`); err != nil || found {
		t.Errorf("a movement was booked: %v %v", found, err)
	}
}
