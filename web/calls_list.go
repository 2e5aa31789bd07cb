package web

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

const callsPage = 50

func callsList(r *request) error {
	f, err := readCallsFilter(r.query)
	if err != nil {
		return err
	}
	ctx, cancel := r.timed()
	defer cancel()
	rows, err := r.d.db.ProviderCalls(ctx, f)
	p := views.CallsProps{Key: f.Key, Job: idOrNone(f.JobID), Paged: f.BeforeID != 0}
	status := fiber.StatusOK
	if err != nil {
		r.d.log.Warn("dashboard: list of calls could not be read", "too_slow", ctx.Err() != nil, "error", err)
		p.LoadFailed, status = true, fiber.StatusServiceUnavailable
	}
	if len(rows) > callsPage {
		rows = rows[:callsPage]
		p.Older = strconv.FormatInt(rows[callsPage-1].ID, 10)
	}
	p.Rows = presentCalls(rows)
	_, _ = load(ctx, r.d, "servers", r.d.servers) // for their clock
	if bare(f) {
		p.Stats = r.d.callStats(ctx)
	}
	l := r.layout(r.locale().Say("Calls"), "calls")
	var shown []string
	for _, c := range p.Rows {
		shown = append(shown, c.ID)
	}
	l.LiveURL = r.d.liveNumbers(l.Here, shown)
	return r.page(status, views.CallsPage(l, p))
}

// bare: the first page without a filter, which has the numbers of the last day.
func bare(f store.ProviderCallFilter) bool { return f.Key == "" && f.JobID == 0 && f.BeforeID == 0 }

func readCallsFilter(get params) (f store.ProviderCallFilter, err error) {
	f.Limit = callsPage + 1
	key, err1 := get("key")
	job, err2 := get("job")
	before, err3 := get("before")
	if err = errors.Join(err1, err2, err3); err != nil {
		return f, err
	}
	ok := true
	if f.Key = key; job != "" {
		if f.JobID, ok = jobID(job); !ok {
			return f, badInput("Field job: must be the number of a job.")
		}
	}
	if before != "" {
		if f.BeforeID, ok = jobID(before); !ok {
			return f, badInput("Field before: must be the number of a call.")
		}
	}
	return f, nil
}

// callStats takes three queries.
func (d *Dashboard) callStats(ctx context.Context) *views.CallStatsProps {
	stats, ok1 := load(ctx, d, "call numbers", d.db.CallStats)
	duplicates, ok2 := load(ctx, d, "duplicates", func(ctx context.Context) (store.Count, error) { return d.db.DuplicatesSince(ctx, 24*time.Hour) })
	p := &views.CallStatsProps{
		Calls: presentCount(stats.Calls), Duplicates: presentCount(duplicates), Answered: stats.Answered, Delivered: stats.Delivered,
		Replayed: stats.Replayed, P95: stats.P95, LoadFailed: !ok1 || !ok2,
	}
	for _, w := range stats.Warnings {
		p.Warnings = append(p.Warnings, views.CallWarning{Kind: w.Kind, Keys: w.Keys, N: w.N})
	}
	return p
}

// callsLook draws the rows that the page shows, whose answers may have come, and
// counts newer ones.
func (d *Dashboard) callsLook(l views.Layout, f store.ProviderCallFilter, ids []int64) look {
	return func(ctx context.Context) (picture, error) {
		pic := d.picture(l)
		if f.BeforeID == 0 {
			fresh, err := d.db.ProviderCalls(ctx, f)
			if err != nil {
				return picture{}, cut(ctx, err)
			}
			for _, c := range fresh[:min(len(fresh), callsPage)] {
				if len(ids) > 0 && c.ID <= slices.Max(ids) {
					break
				}
				pic.news++
			}
		}
		if bare(f) {
			stats := d.callStats(ctx)
			if stats.LoadFailed {
				return picture{}, cut(ctx, errPart)
			}
			for name, draw := range map[string]func(views.Layout, views.CallStatsProps) templ.Component{"call-tiles": views.CallTiles, "call-warnings": views.CallWarnings} {
				pic.add(l, sketch{name, 0, func(l views.Layout, v int64) templ.Component {
					s := *stats
					s.Version = v
					return draw(l, s)
				}})
			}
		}
		rows, err := d.db.CallsByID(ctx, ids)
		if err != nil {
			return picture{}, cut(ctx, err)
		}
		for _, c := range rows {
			row := presentCall(c)
			pic.add(l, sketch{"call-row-" + row.ID, 0, func(l views.Layout, v int64) templ.Component {
				row := row
				row.Version = v
				return views.CallRow(l, row)
			}})
		}
		return pic, nil
	}
}
