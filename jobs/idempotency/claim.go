package idempotency

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// Claim is the right to do one effect, as long as its token holds. It is safe for
// concurrent use. Every method returns ErrClaimLost once another has taken over.
type Claim struct {
	claims *Claims
	q      jobs.Querier // nil: the pool of Claims
	key    string
	token  int64
	opts   options

	mu       sync.Mutex
	row      store.Effect // as last written here
	unmarked *string      // a receipt that the database has not taken yet
}

// Token is the fence: it only grows for one key, also over deletion and re-claim.
func (c *Claim) Token() int64 { return c.token }

// Key is the key's text, the same at every attempt.
func (c *Claim) Key() string { return c.key }

// ProviderKey is the key to send along: Key, and after an operator's "send again"
// with its generation, since that is a new operation.
func (c *Claim) ProviderKey() string { return withGeneration(c.key, c.last().Generation) }

// InDoubt reports that an earlier effect under this key may have happened.
func (c *Claim) InDoubt() bool {
	return c.last().DoubtAt != nil
}

// EffectAt is the first possible effect under this key; nil before the first Begin.
func (c *Claim) EffectAt() *time.Time {
	return c.last().EffectAt
}

// On is the same claim with its writes in q: the transaction that also writes the
// business row, say. A claim made in a transaction writes there until told otherwise.
func (c *Claim) On(q jobs.Querier) *Claim {
	return &Claim{claims: c.claims, q: q, key: c.key, token: c.token, opts: c.opts, row: c.last()}
}

// Begin must be called right before the effect. It tests that the token still
// holds, that the attempt still holds its job, and that the provider still knows
// the key (ErrKeyExpired). It may be called again before each further sending.
func (c *Claim) Begin(ctx context.Context) error {
	row, err := c.claims.db.BeginEffect(ctx, c.q, c.key, c.Token(), c.opts.keyLife, c.opts.margin)
	if errors.Is(err, store.ErrEffectExpired) {
		return fmt.Errorf("begin %s: %w", c.key, ErrKeyExpired)
	}
	return c.wrote("begin", row, err)
}

// Done marks the effect as having happened. receipt is what proves it: JSON, or a
// text or value that becomes JSON; nil for none. Beyond 16 KB its beginning is kept.
// When the claim is another's the receipt is kept as evidence, and ErrClaimLost returned.
//
// The receipt is logged first: should the database stay away, a person can find it.
func (c *Claim) Done(ctx context.Context, receipt any) error {
	text := receiptText(receipt)
	c.claims.cfg.Logger.Info("effect happened; marking its claim as done", "key", c.key, "token", c.token, "receipt", text)
	return c.finish(ctx, text)
}

func (c *Claim) finish(ctx context.Context, receipt string) error {
	row, err := c.claims.db.FinishEffect(ctx, c.q, c.last(), receipt)
	err = c.wrote("done", row, err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unmarked = nil
	if err != nil && !errors.Is(err, ErrClaimLost) {
		c.unmarked = &receipt
	}
	return err
}

// Release gives the claim back: the effect has definitely not happened, and a
// later attempt may do it. While an earlier effect is in doubt it stays unknown.
func (c *Claim) Release(ctx context.Context, reason string) error {
	return c.settle(ctx, store.EffectReleased, reason)
}

// Fail is Release for effects that will not be tried again.
func (c *Claim) Fail(ctx context.Context, reason string) error {
	return c.settle(ctx, store.EffectFailed, reason)
}

// Unknown marks that the effect may or may not have happened; cause says why.
func (c *Claim) Unknown(ctx context.Context, cause error) error {
	reason := ""
	if cause != nil {
		reason = cause.Error()
	}
	return c.settle(ctx, store.EffectUnknown, reason)
}

// Extend keeps a claim made outside of a job for d from now, if it would end
// earlier. A job's claim lives as long as its attempt anyway.
func (c *Claim) Extend(ctx context.Context, d time.Duration) error {
	row, err := c.claims.db.ExtendEffect(ctx, c.q, c.key, c.Token(), d)
	return c.wrote("extend", row, err)
}

func (c *Claim) settle(ctx context.Context, to store.EffectState, reason string) error {
	row, err := c.claims.db.SettleEffect(ctx, c.q, c.key, c.Token(), to, cleanReason(reason))
	return c.wrote(to.String(), row, err)
}

func (c *Claim) wrote(what string, row store.Effect, err error) error {
	if errors.Is(err, store.ErrStateChanged) {
		return fmt.Errorf("%s %s: %w", what, c.key, ErrClaimLost)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", what, c.key, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.row = row
	return nil
}

// last is the row as this handle last wrote it.
func (c *Claim) last() store.Effect {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.row
}

// pending is a receipt given to Done that the database has not taken yet.
func (c *Claim) pending() *string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unmarked
}
