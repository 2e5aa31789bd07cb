package views

import "time"

// RateProps puts a success rate into relation; all are fractions.
type RateProps struct {
	Low, High float64 // 95 % Wilson interval; 0 to 1 says nothing
	Baseline  float64 // usual at this time of day; 0: unknown
}

// WarningProps is the early warning: first attempts succeed less often than usual.
type WarningProps struct {
	Since          time.Time // begin of the episode, or of what was looked at
	Began          bool      // the begin was seen
	First, FirstOK int64     // of the newest window
	Baseline       float64
}

// HourProps is one hour in numbers, to compare another with.
type HourProps struct{ First, FirstOK, Finished int64 }

// WorkProps is what retries cost in the chart's range.
type WorkProps struct {
	Kinds      []KindWorkProps // the most attempts first
	LoadFailed bool

	Looked, Retried int // newest succeeded jobs looked at for the delay, and those of them that had failed before
	Since           *time.Time
	Median, P95     time.Duration // from the first failure to the success
	DelayFailed     bool
}

// KindWorkProps is one kind's attempts.
type KindWorkProps struct {
	Kind                string
	First, FirstOK      int64
	Attempts            int64
	Run, RetryRun       time.Duration // of all attempts, of those after the first
	Late, LateExhausted int64         // jobs that ended at attempt 3 or later, with retries used up
}
