package idempotency

import (
	"context"
	"fmt"
	"time"

	"github.com/tekrar/tekrar/store"
)

// Swept is what Sweep did.
type Swept = store.SweptEffects

// Purged is what Purge removed, and what it left and why.
type Purged = store.PurgedEffects

// Sweep settles claims whose holders are gone: unknown where the effect may have
// happened, released where it has not. Jobs that failed because they left a claim
// open before its effect began are requeued, each at most 3 times. It never does
// an effect itself. Harmless at any time and twice at once.
func (c *Claims) Sweep(ctx context.Context) (Swept, error) {
	return c.db.SweepEffects(ctx, "effect claims sweep")
}

// DefaultWindow is how long settled claims are kept after their last use.
const DefaultWindow = 30 * 24 * time.Hour

// PurgeOptions of Purge.
type PurgeOptions struct {
	// Window after the last use of a claim, at least 1 h. Default 30 days. It should
	// outlive the longest time after which a job may be requeued or a request
	// repeated: a forgotten key is a new effect.
	Window time.Duration
	DryRun bool // count only
}

// Purge removes claims that are done, failed or released, were not used for the
// window, and whose job is succeeded, deleted or gone. The claims of a failed job
// stay, since it can be requeued. Unsettled and reserved ones always stay. It
// works in short transactions and is harmless twice at once.
func (c *Claims) Purge(ctx context.Context, o PurgeOptions) (Purged, error) {
	if o.Window == 0 {
		o.Window = DefaultWindow
	}
	if o.Window < time.Hour {
		return Purged{}, &InputError{Field: "Window", Problem: fmt.Sprintf("%v is below 1h", o.Window)}
	}
	return c.db.PurgeEffects(ctx, o.Window, o.DryRun)
}

// MarkDelivered records a person's knowledge that the effect happened. token is
// the claim as that person saw it; store.ErrStateChanged: it has moved since, or
// its holder lives.
func (c *Claims) MarkDelivered(ctx context.Context, actor, key string, token int64, note string) error {
	return c.Decide(ctx, actor, key, Seen{Token: token}, store.EffectDelivered, note)
}

// MarkNotDelivered records that the effect did not happen: the key is free again.
// The job is not requeued by this.
func (c *Claims) MarkNotDelivered(ctx context.Context, actor, key string, token int64, note string) error {
	return c.Decide(ctx, actor, key, Seen{Token: token}, store.EffectNotDelivered, note)
}

// SendAgain frees the key for a deliberate second effect, under a provider key of
// its own. The job is not requeued by this.
func (c *Claims) SendAgain(ctx context.Context, actor, key string, token int64, note string) error {
	return c.Decide(ctx, actor, key, Seen{Token: token}, store.EffectAgain, note)
}

// Reclaim takes a stale claim from its holder; of several people one wins, and the
// others get store.ErrStateChanged.
func (c *Claims) Reclaim(ctx context.Context, actor, key string, token int64, note string) error {
	return c.Decide(ctx, actor, key, Seen{Token: token}, store.EffectReclaim, note)
}

// Seen is a claim as a person saw it before deciding.
type Seen struct {
	Token int64
	State store.EffectState // 0: whatever it is
}

// Decide is any of the four above. It returns store.ErrStateChanged also when the
// claim is in another state than the one that was seen: a decision to send again
// meant what was unknown, not what somebody has just marked as delivered.
func (c *Claims) Decide(ctx context.Context, actor, key string, seen Seen, d store.EffectDecision, note string) error {
	if actor == "" {
		return &InputError{Field: "actor", Problem: "is empty: the audit needs a name"}
	}
	_, err := c.db.DecideEffect(ctx, cleanReason(actor), key, seen.Token, seen.State, d, cleanReason(note))
	return err
}
