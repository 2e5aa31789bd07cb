package bench

import (
	"context"

	"github.com/tekrar/tekrar/store"
)

// bytes: write-ahead log a job, enqueue and drain together, and disk a job (heap
// and indexes of the whole schema) after the drain.
func (b *bench) bytes(ctx context.Context, db *store.DB) error {
	before, err := db.LogPosition(ctx)
	if err != nil {
		return err
	}
	if _, err := b.drainOnce(ctx, db, b.Workers); err != nil {
		return err
	}
	after, err := db.LogPosition(ctx)
	if err != nil {
		return err
	}
	size, err := db.Size(ctx)
	if err != nil {
		return err
	}
	b.print(Figure{Bench: "bytes", Figure: "log", Value: float64(after-before) / float64(b.Jobs), Unit: "bytes/job"})
	b.print(Figure{Bench: "bytes", Figure: "disk", Value: float64(size) / float64(b.Jobs), Unit: "bytes/job"})
	return nil
}
