package web

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// shownGroups bounds the page of failures; it says how many more there are.
const shownGroups = 50

func failuresList(r *request) error {
	ctx, cancel := r.timed()
	defer cancel()
	p := r.d.failuresNow(ctx)
	status := fiber.StatusOK
	if p.LoadFailed {
		status = fiber.StatusServiceUnavailable
	}
	if muted, ok := load(ctx, r.d, "muted failures", r.d.groups(true)); ok {
		p.Muted = presentGroups(muted.Groups)
	}
	l := r.layout(r.locale().Say("Failures"), "failures")
	l.LiveURL = r.d.liveURL(l.Here, nil)
	return r.page(status, views.FailuresPage(l, p))
}

func (d *Dashboard) groups(muted bool) func(context.Context) (store.Failures, error) {
	return func(ctx context.Context) (store.Failures, error) { return d.db.FailureGroups(ctx, muted, shownGroups) }
}

// failuresNow reads the groups that wait for a decision.
func (d *Dashboard) failuresNow(ctx context.Context) views.FailuresProps {
	f, ok := load(ctx, d, "failures", d.groups(false))
	return views.FailuresProps{Groups: presentGroups(f.Groups), GroupsTotal: f.GroupsTotal, JobsTotal: f.JobsTotal, LoadFailed: !ok}
}

// failuresSeen keeps the groups for a moment: live pages look twice a second.
type failuresSeen struct {
	mu sync.Mutex
	at time.Time
	p  views.FailuresProps
}

const failuresFresh = 2 * time.Second

func (d *Dashboard) failuresLately(ctx context.Context) views.FailuresProps {
	s := &d.failures
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.at) > failuresFresh {
		s.p = d.failuresNow(ctx)
		s.at = time.Now()
	}
	return s.p
}

func presentGroups(groups []store.FailureGroup) []views.FailureProps {
	out := make([]views.FailureProps, len(groups))
	for i, g := range groups {
		out[i] = presentGroup(g)
	}
	return out
}

func presentGroup(g store.FailureGroup) views.FailureProps {
	return views.FailureProps{
		Kind: g.Kind, Group: store.GroupName(g.Fingerprint), ErrorType: g.ErrorType, ErrorLine: g.ErrorLine,
		N: g.N, First: g.First, Last: g.Last, Exhausted: g.Exhausted, Permanent: g.Permanent,
		ByAttempt: [4]int64{g.Attempt1, g.Attempt2, g.Attempt3, g.N - g.Attempt1 - g.Attempt2 - g.Attempt3},
		Hours:     g.Hours, MutedAt: g.MutedAt, MutedBy: g.MutedBy,
	}
}

// operationsScene draws the live parts of the failures and of a bulk operation; nil
// for any other page.
func (d *Dashboard) operationsScene(inner string, l views.Layout) look {
	inner = strings.ToLower(inner)
	if inner == "/failures" {
		return func(ctx context.Context) (picture, error) {
			p := d.failuresLately(ctx)
			if p.LoadFailed {
				return picture{}, cut(ctx, errPart)
			}
			muted, ok := load(ctx, d, "muted failures", d.groups(true))
			if !ok {
				return picture{}, cut(ctx, errPart)
			}
			p.Muted = presentGroups(muted.Groups)
			part := func(id string, draw func(views.Layout, views.FailuresProps) templ.Component) sketch {
				return sketch{id, 0, func(l views.Layout, v int64) templ.Component {
					p.Version = v
					return draw(l, p)
				}}
			}
			return d.picture(l, part("failure-lead", views.FailuresLead), part("failure-groups", views.FailureGroups),
				part("failure-muted", views.MutedFailures)), nil
		}
	}
	id, ok := jobID(strings.TrimPrefix(inner, "/bulk/"))
	if !ok || !strings.HasPrefix(inner, "/bulk/") {
		return nil
	}
	return func(ctx context.Context) (picture, error) {
		b, err := d.db.Bulk(ctx, id)
		if err != nil {
			return picture{}, cut(ctx, err)
		}
		p := presentBulk(b)
		return d.picture(l, sketch{"bulk-progress", 0, func(l views.Layout, v int64) templ.Component {
			p.Version = v
			return views.BulkProgress(l, p)
		}}), nil
	}
}
