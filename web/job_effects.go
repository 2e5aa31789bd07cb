package web

import (
	"context"
	"slices"

	"github.com/a-h/templ"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// jobCalls is how many provider calls a job's page shows.
const jobCalls = 20

// addEffects reads what a job did outside of the database: its claims and its calls.
func (d *Dashboard) addEffects(ctx context.Context, p *views.JobProps, id int64) {
	claims, ok1 := load(ctx, d, "claims of a job", func(ctx context.Context) ([]store.Effect, error) { return d.jobEffects(ctx, id) })
	calls, ok2 := load(ctx, d, "calls of a job", func(ctx context.Context) ([]store.ProviderCallRow, error) {
		return d.db.ProviderCalls(ctx, store.ProviderCallFilter{JobID: id, Limit: jobCalls})
	})
	p.Claims, p.Calls, p.EffectsFailed = presentClaims(claims), presentCalls(calls), !ok1 || !ok2
}

// effectSketch draws a part whose data change without a row of history.
func effectSketch(name string, p views.JobProps, draw func(views.Layout, views.JobProps) templ.Component) sketch {
	return sketch{name, 0, func(l views.Layout, v int64) templ.Component {
		p := p
		p.EffectsVersion = v
		return draw(l, p)
	}}
}

// jobTab reads which panel of a job's page is shown; "" all.
func jobTab(get params) (string, error) {
	tab, err := get("tab")
	if err == nil && !slices.Contains(views.JobTabs(), tab) {
		err = badInput("Field tab: unknown %s. Known ones: %v.", shorten(tab), views.JobTabs()[1:])
	}
	return tab, err
}
