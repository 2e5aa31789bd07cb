package jobs

import "context"

// Tidy runs retention once: in a program it is a minute's wait away.
func Tidy(ctx context.Context, c *Client) error { return newEngine(c).tidy(ctx) }
