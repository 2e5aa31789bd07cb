package bench

import (
	"context"

	"github.com/tekrar/tekrar/store"
)

// held: a drain while a transaction holds its snapshot open, so that vacuum can
// remove nothing of what the drain leaves; and how much of the rate without it
// that is.
func (b *bench) held(ctx context.Context, db *store.DB) error {
	free, err := b.drainOnce(ctx, db, b.Workers)
	if err != nil {
		return err
	}
	release, err := db.Hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	rate, err := b.drainOnce(ctx, db, b.Workers)
	if err != nil {
		return err
	}
	b.print(Figure{Bench: "held", Figure: "rate", Value: rate, Unit: "jobs/s"})
	b.print(Figure{Bench: "held", Figure: "of_the_rate_without", Value: rate / free, Unit: "ratio"})
	return nil
}
