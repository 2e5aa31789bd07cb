package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// claimsFilter is which claims a list shows.
type claimsFilter struct {
	tab   store.EffectTab
	after store.EffectCursor
}

// claimsList is the list, or the page of one whose key no path can carry.
func claimsList(r *request) error {
	key, err := r.query("key")
	if err != nil {
		return err
	}
	if key != "" {
		return r.claimPage(key)
	}
	f, err := readClaimsFilter(r.query)
	if err != nil {
		return err
	}
	ctx, cancel := r.timed()
	defer cancel()
	p, rows, status := r.d.claims(ctx, f)
	l := r.layout(r.locale().Say("Claims"), "claims")
	var numbers []string
	for _, e := range rows {
		numbers = append(numbers, strconv.FormatInt(claimNumber(e.Key), 10))
	}
	l.LiveURL = r.d.liveNumbers(l.Here, numbers)
	return r.page(status, views.ClaimsPage(l, p))
}

// liveNumbers is the socket address of a page whose rows have no versions.
func (d *Dashboard) liveNumbers(here string, rows []string) string {
	u := d.links.Path("/live") + "?view=" + url.QueryEscape(here)
	if len(rows) > 0 {
		u += "&ids=" + strings.Join(rows, ",")
	}
	return u
}

// claimNumber stands for a key where only numbers go, as recurringNumber does.
func claimNumber(key string) int64 { return recurringNumber(key) }

func readClaimsFilter(get params) (f claimsFilter, err error) {
	tab, err1 := get("tab")
	after, err2 := get("after")
	if err = errors.Join(err1, err2); err != nil {
		return f, err
	}
	if f.tab, err = store.ParseEffectTab(tab); err != nil {
		return f, badInput("Field tab: unknown %s. Known ones: %v.", shorten(tab), store.EffectTabs)
	}
	f.after, err = store.ParseEffectCursor(f.tab, after)
	return f, err
}

func (d *Dashboard) claims(ctx context.Context, f claimsFilter) (p views.ClaimsProps, rows []store.Effect, status int) {
	rows, next, err := d.effectPage(ctx, f.tab, f.after, 0)
	status = fiber.StatusOK
	if err != nil {
		d.log.Warn("dashboard: list of claims could not be read", "too_slow", ctx.Err() != nil, "error", err)
		p.LoadFailed, status = true, fiber.StatusServiceUnavailable
	}
	if len(rows) > 0 {
		d.clock.saw(rows[0].Now)
	}
	p.Rows, p.After, p.Next = presentClaims(rows), f.after.String(), next.String()
	p.Tabs, p.Purge = d.claimTabs(ctx, f), d.purgeCard(ctx)
	return p, rows, status
}

func (d *Dashboard) claimTabs(ctx context.Context, f claimsFilter) views.ClaimTabsProps {
	t := views.ClaimTabsProps{Current: string(f.tab)}
	if totals, ok := load(ctx, d, "claim counts", d.db.EffectTotals); ok {
		t.Counts = map[string]views.Count{}
		for tab, c := range totals {
			t.Counts[string(tab)] = presentCount(c)
		}
	}
	return t
}

// purgeResults is how many of the newest purges are looked through for the last one
// that removed something and the last dry run.
const purgeResults = 20

func (d *Dashboard) purgeCard(ctx context.Context) (p views.PurgeProps) {
	kind := idempotency.PurgeJob{}.Kind()
	results, ok1 := load(ctx, d, "purges", func(ctx context.Context) ([]store.JobResult, error) {
		return d.db.NewestResults(ctx, kind, purgeResults)
	})
	servers, ok2 := load(ctx, d, "servers", d.servers)
	p.Handled, p.LoadFailed = handled(servers)[kind], !ok1 || !ok2
	for _, r := range results {
		var report idempotency.PurgeReport
		if json.Unmarshal(r.Result, &report) != nil || string(r.Result) == "null" {
			continue
		}
		v := &views.PurgeReport{
			Job: strconv.FormatInt(r.JobID, 10), At: r.At, Removed: report.Removed, Young: report.Young, Unsettled: report.Unsettled,
			Reserved: report.Reserved, OfFailed: report.JobFailed, OfLive: report.JobLive, Unknown: report.MadeUnknown,
		}
		if report.DryRun && p.Dry == nil {
			p.Dry = v
		}
		if !report.DryRun && p.Last == nil {
			p.Last = v
		}
	}
	return p
}

// claimsLook draws the rows that the page shows, wherever they went, and counts what
// a fresh page would show that this one does not. The address of a socket names rows
// by numbers; which keys those are is learned from the first look, so that a row that
// leaves the list later is still found.
func (d *Dashboard) claimsLook(l views.Layout, f claimsFilter, ids []int64) look {
	var shown []string
	return func(ctx context.Context) (picture, error) {
		p, fresh, status := d.claims(ctx, f)
		if status != fiber.StatusOK || p.Purge.LoadFailed {
			return picture{}, cut(ctx, errPart)
		}
		pic := d.picture(l, sketch{"claim-tabs", 0, func(l views.Layout, v int64) templ.Component {
			p.Tabs.Version = v
			return views.ClaimTabs(l, p.Tabs)
		}}, sketch{"claim-purge", 0, func(l views.Layout, v int64) templ.Component {
			p.Purge.Version = v
			return views.PurgeCard(l, p.Purge)
		}})
		here := map[string]bool{}
		for _, e := range fresh {
			here[e.Key] = true
			if slices.Contains(ids, claimNumber(e.Key)) {
				if !slices.Contains(shown, e.Key) {
					shown = append(shown, e.Key)
				}
			} else {
				pic.news++
			}
		}
		if f.after != (store.EffectCursor{}) && (f.tab == store.TabDone || f.tab == store.TabReleased) {
			pic.news = 0 // newest first: behind the first page older ones slide in
		}
		rows, err := d.effectsByKey(ctx, shown)
		if err != nil {
			return picture{}, cut(ctx, err)
		}
		for _, e := range rows {
			row := presentClaim(e)
			row.Gone = !here[e.Key]
			pic.add(l, sketch{views.ClaimRowID(e.Key), 0, func(l views.Layout, v int64) templ.Component {
				row := row
				row.Version = v
				return views.ClaimRow(l, row)
			}})
		}
		return pic, nil
	}
}
