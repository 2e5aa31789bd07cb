package bookstore

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// The toolkit's job in a process that is killed (SIGKILL) at each point, for a
// provider with keys and for one without under both policies: mails, claim, job.
func TestToolkitKilledAnywhere(t *testing.T) {
	t.Parallel()
	policies := []string{"keys", "hold", "resend"}
	for _, tt := range []struct {
		point string
		want  [3]string
	}{
		{"claimed", [3]string{"1 done succeeded", "1 done succeeded", "1 done succeeded"}},
		{"begun", [3]string{"1 done succeeded", "0 unknown failed", "1 done succeeded"}},
		{"sent", [3]string{"1 done succeeded", "1 unknown failed", "2 done succeeded"}},
		{"marked", [3]string{"1 done succeeded", "1 done succeeded", "1 done succeeded"}},
	} {
		t.Run(tt.point, func(t *testing.T) {
			t.Parallel()
			l := openTestLab(t)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			s := &stage{l.Lab, &jobs.Job[Scenario]{}}
			var mails []mailing
			for i, p := range policies {
				id := int64(100 + i)
				mails = append(mails, mailing{id, InvoiceEmailToolkit{InvoiceID: id, Provider: p}})
			}
			done, err := s.killed(ctx, tt.point, mails...)
			if err != nil {
				t.Fatal(err)
			}
			for i, m := range mails {
				got := l.outcome(t, m.invoice, done[i])
				t.Logf("killed at %-7s %-6s %s", tt.point, policies[i], got)
				if got != tt.want[i] {
					t.Errorf("%s: %s, want %s: %s", policies[i], got, tt.want[i], done[i].ErrorLine)
				}
			}
		})
	}
}

// outcome is mails, claim, job.
func (l lab) outcome(t *testing.T, invoice int64, d store.JobDetail) string {
	t.Helper()
	claim, err := l.db.Effect(t.Context(), fmt.Sprintf("invoice-email:%d", invoice))
	if err != nil {
		t.Fatal(err)
	}
	if d.State == store.Failed && !strings.Contains(d.ErrorLine, "outcome unknown") {
		t.Errorf("failed because of %q", d.ErrorLine)
	}
	return fmt.Sprintf("%d %s %s", len(l.provider.Delivered(recipient(invoice))), claim.State, d.State)
}

// A job that is killed after each send ends by the loss limit, with one mail.
func TestToolkitKilledEachTime(t *testing.T) {
	t.Parallel()
	l := openTestLab(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	s := &stage{l.Lab, &jobs.Job[Scenario]{}}
	ids, err := s.kill(ctx, "sent", mailing{42, InvoiceEmailToolkit{InvoiceID: 42}})
	if err != nil {
		t.Fatal(err)
	}
	const lossLimit = 3 // the engine's default
	for range lossLimit {
		w, err := s.worker("point=sent", "invoices=42")
		if err != nil {
			t.Fatal(err)
		}
		defer w.kill()
		if err := w.line(ctx, "reached sent"); err != nil {
			t.Fatal(err)
		}
		w.kill()
	}
	done, err := s.ended(ctx, ids...) // the program itself notices the last loss
	if err != nil {
		t.Fatal(err)
	}
	mails := l.provider.Delivered(recipient(42))
	claim, err := l.db.Effect(t.Context(), "invoice-email:42")
	if err != nil || len(mails) != 1 || done[0].State != store.Failed || done[0].Attempt != lossLimit+1 || !claim.State.Unsettled() || l.provider.Replays(recipient(42)) != lossLimit {
		t.Errorf("%d mails, job %s at attempt %d (%s), claim %s, %d replays: %v", len(mails), done[0].State, done[0].Attempt, done[0].ErrorLine, claim.State, l.provider.Replays(recipient(42)), err)
	}
}
