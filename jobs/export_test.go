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

// LookBeside makes looks beside the claims stand for all scans from the start. Before
// the engine starts; pause is called before each look.
func LookBeside(c *Client, pause func()) {
	c.scans = scans{slow: -1, every: time.Millisecond, pause: pause}
}

// Pace is pace for tests.
type Pace struct{ pace }

// Saw is saw, Rest is rest.
func (p *Pace) Saw(n int64) { p.saw(n) }

// Rest is rest.
func (p *Pace) Rest(gap time.Duration) time.Duration { return p.rest(gap) }
