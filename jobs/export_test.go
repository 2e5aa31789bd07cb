package jobs

import (
	"context"
	"time"
)

// Tidy runs retention once: in a program it is a minute's wait away.
func Tidy(ctx context.Context, c *Client) error { return newEngine(c).tidy(ctx) }

// FireOnce looks at the due recurring jobs once and says when it would look again.
func FireOnce(ctx context.Context, c *Client) (time.Duration, error) {
	return newEngine(c).firer.round(ctx)
}

// ResumeBulks is what the janitor does about operations without a process.
func ResumeBulks(ctx context.Context, c *Client) error { return c.resumeBulks(ctx) }
