package views

import (
	"strconv"
	"time"
)

// seriesJobs leads to exactly the jobs of one series of a bar, as far as they are
// kept and nobody moved them since: from the bucket's start until before its end.
func seriesJobs(l Layout, p ChartProps, b Bucket, series int) string {
	f := p.jobs(Succeeded, "finished>"+queryTime(b.At)+" finished<"+queryTime(b.At.Add(p.Width)))
	switch series {
	case 3:
		f.Q += " attempt>3"
	case 4:
		f.State, f.Q = Failed, f.Q+" outcome:exhausted"
	case 5:
		f.State, f.Q = Failed, f.Q+" outcome:permanent"
	default:
		f.Q += " attempt:" + strconv.Itoa(series+1)
	}
	return l.Links.JobsOf(f, "")
}

// queryTime is a bucket's edge, always a whole minute, as a search reads it.
func queryTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04") }
