package web

import (
	"context"
	"slices"
	"time"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// topFailures is how many groups of failures the overview shows.
const topFailures = 5

func overviewShow(r *request) error {
	ctx, cancel := r.timed()
	defer cancel()
	p := r.d.overview(ctx, r.d.failuresNow(ctx))
	l := r.layout("Overview", "overview")
	l.LiveURL = r.d.liveURL(l.Here, nil)
	return r.page(fiber.StatusOK, views.OverviewPage(l, p))
}

// overview takes seven queries at most, beside the failures that it is given: the
// last six hours by the minute serve the tiles, the warning and the chart.
func (d *Dashboard) overview(ctx context.Context, failures views.FailuresProps) views.OverviewProps {
	minutes, ok := load(ctx, d, "last hours", func(ctx context.Context) ([]store.AttemptBucket, error) {
		return d.db.Attempts(ctx, jobs.WarnedSpan, time.Minute, store.AttemptFilter{})
	})
	past, known := d.pastLately(ctx, jobs.WarnedSpan, store.AttemptFilter{})
	usual := jobs.NewBaseline(past.Hours)
	health, queues, _ := d.health(ctx, minutes[max(0, len(minutes)-60):], ok)
	if known {
		health.Warning = presentWarning(jobs.EarlyWarning(minutes, usual))
		health.Yesterday = &views.HourProps{First: past.Yesterday.First, FirstOK: past.Yesterday.FirstOK, Finished: past.Yesterday.Finished}
	}
	if !failures.LoadFailed {
		health.Muted = max(0, health.Failed.N-failures.JobsTotal)
	}
	failures.Groups = failures.Groups[:min(len(failures.Groups), topFailures)]
	slices.SortStableFunc(queues, longestWait)
	return views.OverviewProps{
		Health: health, Failures: failures,
		Queues: views.QueuesProps{Rows: presentQueues(queues), Compact: true, LoadFailed: health.LoadFailed && queues == nil},
		Chart:  presentChart(views.ChartProps{Span: 6 * time.Hour, Width: 5 * time.Minute, Compact: true, LoadFailed: !ok}, widened(minutes, 5*time.Minute, 72), usual),
	}
}

// longestWait puts the queue first whose oldest job waits longest; those where none
// waits come last.
func longestWait(a, b store.QueueRow) int {
	switch {
	case a.OldestReady != nil && b.OldestReady != nil:
		return a.OldestReady.Compare(*b.OldestReady)
	case a.OldestReady != nil:
		return -1
	case b.OldestReady != nil:
		return 1
	}
	return 0
}

// overviewLook draws the overview's parts again.
func (d *Dashboard) overviewLook(l views.Layout) look {
	return func(ctx context.Context) (picture, error) {
		p := d.overview(ctx, d.failuresLately(ctx))
		if p.Health.LoadFailed || p.Chart.LoadFailed {
			return picture{}, cut(ctx, errPart)
		}
		return d.picture(l,
			sketch{"verdict", 0, func(l views.Layout, v int64) templ.Component {
				p.Health.Version = v
				return views.Verdict(l, p.Health)
			}},
			sketch{"tiles", 0, func(l views.Layout, v int64) templ.Component {
				p.Health.Version = v
				return views.Tiles(l, p.Health)
			}},
			chartSketch(p.Chart),
			queuesSketch(p.Queues),
			sketch{"failure-top", 0, func(l views.Layout, v int64) templ.Component {
				p.Failures.Version = v
				return views.FailureGroupsShort(l, p.Failures)
			}},
		), nil
	}
}
