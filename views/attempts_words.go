package views

import "strconv"

// ratio is attempts a job with two decimals.
func ratio(attempts, jobs int64) string {
	if jobs == 0 {
		return "–"
	}
	return strconv.FormatFloat(float64(attempts)/float64(jobs), 'f', 2, 64)
}

// workWords is the work caused by retries, of all kinds shown.
func workWords(w WorkProps) string {
	var all KindWorkProps
	for _, k := range w.Kinds {
		all.First, all.Attempts = all.First+k.First, all.Attempts+k.Attempts
		all.Run, all.RetryRun = all.Run+k.Run, all.RetryRun+k.RetryRun
	}
	if all.Attempts == 0 {
		return "No attempt ended."
	}
	s := plural(all.Attempts, "attempt") + " for " + plural(all.First, "job") + " begun"
	if all.First > 0 {
		s += ", " + ratio(all.Attempts, all.First) + " a job"
	}
	return s + "; retries took " + percent(int64(all.RetryRun), int64(all.Run)) + " of the run time (" + duration(all.RetryRun) + " of " + duration(all.Run) + ")."
}

// delayWords is the delay added by retries.
func delayWords(w WorkProps) string {
	switch {
	case w.DelayFailed:
		return "Not loaded: the database did not answer in time."
	case w.Looked == 0:
		return "No job succeeded."
	case w.Retried == 0:
		return "None: no job had failed before it succeeded."
	}
	return plural(int64(w.Retried), "job") + " succeeded after a failure, later than that by " + duration(w.Median) + " in the median, " +
		duration(w.P95) + " at the 95th percentile."
}
