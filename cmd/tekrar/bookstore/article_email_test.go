package bookstore

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// killAfterSend kills the worker process between send and mark, calls between, and
// lets another process finish the job.
func killAfterSend(t *testing.T, l lab, invoice int64, args jobs.Args, between func()) store.JobDetail {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := &stage{l.Lab, &jobs.Job[Scenario]{}, labQueue}
	ids, err := s.kill(ctx, "sent", mailing{invoice: invoice, args: args})
	if err != nil {
		t.Fatal(err)
	}
	between()
	heir, err := s.worker()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := heir.stop(); err != nil {
			t.Error(err)
		}
	}()
	done, err := s.ended(ctx, ids...)
	if err != nil {
		t.Fatal(err)
	}
	return done[0]
}

// The article's third exercise, with the toolkit: SIGKILL after the send and before
// "sent". One delivery, the same message id, replayed = true.
func TestArticleKilledAfterSend(t *testing.T) {
	t.Parallel()
	l := openTestLab(t)
	d := killAfterSend(t, l, 42, InvoiceEmailToolkit{InvoiceID: 42}, func() {})
	history, err := l.db.Job(t.Context(), d.ID, 100, 0)
	if err != nil || d.State != store.Succeeded || d.Attempt != 2 || !strings.HasSuffix(oldestFirst(history)[2].Reason, "lost") {
		t.Errorf("job is %s at attempt %d: %+v %v", d.State, d.Attempt, history.History, err)
	}
	claim, err := l.db.Effect(t.Context(), "invoice-email:42")
	if err != nil || claim.State != store.EffectDone || claim.Reclaims != 1 {
		t.Errorf("claim %+v %v", claim, err)
	}
	mails := l.provider.Delivered(recipient(42))
	log := l.provider.Log(10)
	if len(mails) != 1 || len(log) != 2 || !log[0].Replayed || log[0].MessageID != log[1].MessageID || log[0].Key != "invoice-email:42" || log[1].Key != log[0].Key {
		t.Errorf("mails %v, log %+v", mails, log)
	}
	// The calls tell the same: one without an answer, whose process died, and its replay.
	calls, err := l.db.ProviderCalls(t.Context(), store.ProviderCallFilter{JobID: d.ID})
	if err != nil || len(calls) != 2 {
		t.Fatalf("%+v %v", calls, err)
	}
	died, replay := calls[1], calls[0]
	if died.EndedAt != nil || died.Attempt != 1 || replay.Attempt != 2 || !replay.Replayed || replay.Reference != mails[0] || replay.Payload != died.Payload {
		t.Errorf("calls %+v", calls)
	}
}

// The same with the article's own table: its claim can be taken over ten minutes
// later, and the provider's key does the rest.
func TestArticleKilledAfterSendClaimFirst(t *testing.T) {
	t.Parallel()
	l := openTestLab(t)
	key := claimFirstKey(42)
	d := killAfterSend(t, l, 42, InvoiceEmailClaimFirst{InvoiceID: 42}, func() { l.age(t, key, 11*time.Minute) })
	mails := l.provider.Delivered(recipient(42))
	if status, err := l.tables.mailStatus(t.Context(), key); err != nil || status != "sent" || len(mails) != 1 || l.provider.Replays(recipient(42)) != 1 || d.State != store.Succeeded {
		t.Errorf("row %q (%v), mails %v, job %s", status, err, mails, d.State)
	}
}

// age makes a claim look older than it is.
func (l lab) age(t *testing.T, key string, by time.Duration) {
	t.Helper()
	found, err := l.tables.changed(t.Context(), `update bookstore.outgoing_emails set claimed_at = claimed_at - make_interval(secs => $2) where idempotency_key = $1`, key, by.Seconds())
	if err != nil || !found {
		t.Fatal(found, err)
	}
}

// The article's second exercise: of two that take over a claim older than ten
// minutes at the same moment, one wins. Its variants that forget to move claimed_at,
// or look before they update, let both win.
func TestArticleTwoReclaimers(t *testing.T) {
	t.Parallel()
	l := openTestLab(t)
	const aged = ` where idempotency_key = $1 and status = 'sending' and claimed_at < clock_timestamp() - interval '10 minutes'`
	for _, tt := range []struct {
		name, look, update string
		winners            int
	}{
		{"moves claimed_at", "", `update bookstore.outgoing_emails set claimed_at = clock_timestamp()` + aged, 1},
		{"moves nothing", "", `update bookstore.outgoing_emails set status = 'sending'` + aged, 2},
		{"looks first", `select id from bookstore.outgoing_emails` + aged,
			`update bookstore.outgoing_emails set claimed_at = clock_timestamp() where idempotency_key = $1`, 2},
	} {
		if ours, err := l.tables.claimMail(t.Context(), tt.name); err != nil || !ours {
			t.Fatal(ours, err)
		}
		l.age(t, tt.name, 11*time.Minute)
		if winners := l.race(t, tt.name, tt.look, tt.update); winners != tt.winners {
			t.Errorf("%s: %d winners, want %d", tt.name, winners, tt.winners)
		}
	}
	// And the function the job uses, against itself.
	if ours, err := l.tables.claimMail(t.Context(), "real"); err != nil || !ours {
		t.Fatal(ours, err)
	}
	if again, err := l.tables.claimMail(t.Context(), "real"); err != nil || again {
		t.Errorf("a fresh claim was taken over: %v %v", again, err)
	}
	l.age(t, "real", 11*time.Minute)
	won := make(chan bool, 8)
	for range cap(won) {
		go func() {
			ours, err := l.tables.claimMail(t.Context(), "real")
			won <- ours && err == nil
		}()
	}
	winners := 0
	for range cap(won) {
		if <-won {
			winners++
		}
	}
	if winners != 1 {
		t.Errorf("%d winners, want 1", winners)
	}
}

// race runs the update in two transactions; the second waits for the first.
func (l lab) race(t *testing.T, key, look, update string) (winners int) {
	t.Helper()
	wins := func(tx *sqlx.Tx) bool {
		r, err := tx.ExecContext(t.Context(), update, key)
		if err != nil {
			t.Error(err)
			return false
		}
		n, err := r.RowsAffected()
		return err == nil && n > 0
	}
	sees := func(tx *sqlx.Tx) bool {
		var id int64
		return look == "" || tx.GetContext(t.Context(), &id, look, key) == nil
	}
	first, second := l.begin(t), l.begin(t)
	looked := sees(second) // before the first has updated
	if sees(first) && wins(first) {
		winners++
	}
	got := make(chan bool, 1)
	go func() { got <- looked && wins(second) }()
	eventually(t, "the second waits", func() bool {
		var n int
		err := l.db.GetContext(t.Context(), &n, `select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%outgoing_emails%' and datname = current_database()`)
		return err == nil && n == 1
	})
	if err := first.Commit(); err != nil {
		t.Fatal(err)
	}
	if <-got {
		winners++
	}
	if err := second.Commit(); err != nil {
		t.Fatal(err)
	}
	return winners
}

func (l lab) begin(t *testing.T) *sqlx.Tx {
	t.Helper()
	tx, err := l.db.BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tx.Rollback() })
	return tx
}
