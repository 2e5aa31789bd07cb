package store

import "time"

// BucketBounds are the upper bounds of the run-time buckets of statistics; the
// last bucket has none.
var BucketBounds = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond,
	10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second,
	30 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
}

// Bucket returns the index of the first bound that is not below d.
func Bucket(d time.Duration) int {
	for i, b := range BucketBounds {
		if d <= b {
			return i
		}
	}
	return len(BucketBounds)
}
