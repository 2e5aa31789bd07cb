package jobs

import (
	"context"
	"time"

	"github.com/tekrar/tekrar/store"
)

// Change is a hint that jobs changed: their ids, or All for many or unknown ones.
type Change = store.Change

// Watch asks all engines to publish changes and returns their hints until ctx
// ends; then the channel is closed. A hint can be missed, doubled or early by a
// moment: who shows jobs looks at the database, and looks now and then without
// any hint. A reader that falls behind gets All instead.
func (c *Client) Watch(ctx context.Context) <-chan Change {
	out := make(chan Change, 64)
	go func() {
		defer close(out)
		if c.cfg.PollOnly {
			<-ctx.Done()
			return
		}
		asked := make(chan struct{})
		go func() {
			defer close(asked)
			c.keepWatched(ctx)
		}()
		c.db.ListenChanges(ctx, func(bool) {}, func(one Change) {
			select {
			case out <- one:
			default:
				drainTo(out, Change{All: true})
			}
		})
		<-asked
	}()
	return out
}

func drainTo(out chan Change, one Change) {
	for {
		select {
		case out <- one:
			return
		default:
		}
		select {
		case <-out:
		default:
		}
	}
}

// keepWatched tells engines now and then that somebody watches.
func (c *Client) keepWatched(ctx context.Context) {
	again := time.NewTicker(watchAgain)
	defer again.Stop()
	for {
		c.changes.watched()
		if err := c.db.NotifyWatching(ctx); err != nil && ctx.Err() == nil {
			c.log.Debug("watching not announced", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
	}
}
