package idempotency

import (
	"context"

	"github.com/jmoiron/sqlx"
)

// PurgeNow is Purge for a person who waits for it, whose name goes to the audit
// before anything is removed. A dry run is not audited: it only counts.
func (c *Claims) PurgeNow(ctx context.Context, actor string, o PurgeOptions) (Purged, error) {
	if actor == "" {
		return Purged{}, &InputError{Field: "actor", Problem: "is empty: the audit needs a name"}
	}
	if !o.DryRun {
		err := c.db.Tx(ctx, func(tx *sqlx.Tx) error {
			return c.db.AuditPurge(ctx, tx, cleanReason(actor), 0, false)
		})
		if err != nil {
			return Purged{}, err
		}
	}
	return c.Purge(ctx, o)
}
