package views

import (
	"strings"

	"github.com/tekrar/tekrar/views/locale"
)

// ratio is attempts a job with two decimals.
func ratio(in *locale.Locale, attempts, jobs int64) string {
	if jobs == 0 {
		return "–"
	}
	return in.Decimal(float64(attempts)/float64(jobs), 2)
}

// spanLabel is a span of a URL as a person reads it: "24 h".
func spanLabel(in *locale.Locale, key string) string {
	n, days := strings.CutSuffix(key, "d")
	if days {
		return in.Say("%s d", n)
	}
	return in.Say("%s h", strings.TrimSuffix(n, "h"))
}

// workWords is the work caused by retries, of all kinds shown.
func workWords(in *locale.Locale, w WorkProps) string {
	var all KindWorkProps
	for _, k := range w.Kinds {
		all.First, all.Attempts = all.First+k.First, all.Attempts+k.Attempts
		all.Run, all.RetryRun = all.Run+k.Run, all.RetryRun+k.RetryRun
	}
	if all.Attempts == 0 {
		return in.Say("No attempt ended.")
	}
	attempts, jobs := in.Plural(all.Attempts, "1 attempt", "%d attempts"), in.Plural(all.First, "1 job", "%d jobs")
	share, retried, run := in.Percent(int64(all.RetryRun), int64(all.Run)), in.Duration(all.RetryRun), in.Duration(all.Run)
	if all.First == 0 {
		return in.Say("%s for %s begun; retries took %s of the run time (%s of %s).", attempts, jobs, share, retried, run)
	}
	return in.Say("%s for %s begun, %s a job; retries took %s of the run time (%s of %s).", attempts, jobs, ratio(in, all.Attempts, all.First), share, retried, run)
}

// delayWords is the delay added by retries.
func delayWords(in *locale.Locale, w WorkProps) string {
	switch {
	case w.DelayFailed:
		return in.Say("Not loaded: the database did not answer in time.")
	case w.Looked == 0:
		return in.Say("No job succeeded.")
	case w.Retried == 0:
		return in.Say("None: no job had failed before it succeeded.")
	}
	return in.Plural(int64(w.Retried), "1 job succeeded after a failure, later than that by %s in the median, %s at the 95th percentile.",
		"%d jobs succeeded after a failure, later than that by %s in the median, %s at the 95th percentile.", in.Duration(w.Median), in.Duration(w.P95))
}
