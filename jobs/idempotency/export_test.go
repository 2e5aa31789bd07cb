package idempotency

import (
	"context"
	"time"
)

// Unstable is the guard's judgement of a key outside of a job.
func Unstable(k Key, now time.Time) string { return unstable(context.Background(), k, now) }

// Occurs is how the guard looks into arguments.
func Occurs(args, text string) bool { return occurs(args, text) }
