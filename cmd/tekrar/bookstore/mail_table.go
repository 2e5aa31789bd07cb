package bookstore

import "context"

// sentBefore is the naive look: nothing holds anybody off between it and the send.
func (t tables) sentBefore(ctx context.Context, key string) (bool, error) {
	return t.rowExists(ctx, `select 1 from bookstore.outgoing_emails where idempotency_key = $1`, key)
}

// record notes a mail after it was sent. The second of two gets a unique violation,
// when both mails are out.
func (t tables) record(ctx context.Context, key, messageID string) error {
	return t.write(ctx, `insert into bookstore.outgoing_emails (idempotency_key, status, provider_message_id) values ($1, 'sent', $2)`, key, messageID)
}

// claimMail is the article's claim: by insert, or by taking over one that has been
// "sending" for ten minutes. The take-over moves claimed_at, which it tests, so only
// one of several wins.
func (t tables) claimMail(ctx context.Context, key string) (bool, error) {
	ours, err := t.changed(ctx, `insert into bookstore.outgoing_emails (idempotency_key, status) values ($1, 'sending')
on conflict (idempotency_key) do nothing`, key)
	if ours || err != nil {
		return ours, err
	}
	return t.changed(ctx, `update bookstore.outgoing_emails set claimed_at = clock_timestamp()
where idempotency_key = $1 and status = 'sending' and claimed_at < clock_timestamp() - interval '10 minutes'`, key)
}

// markSent completes a claimed mail.
func (t tables) markSent(ctx context.Context, key, messageID string) error {
	return t.write(ctx, `update bookstore.outgoing_emails set status = 'sent', provider_message_id = $2
where idempotency_key = $1 and status = 'sending'`, key, messageID)
}

// mailStatus is "sending", "sent", or "" without a row.
func (t tables) mailStatus(ctx context.Context, key string) (status string, err error) {
	err = t.db.GetContext(ctx, &status, `select coalesce(max(status), '') from bookstore.outgoing_emails where idempotency_key = $1`, key)
	return status, err
}
