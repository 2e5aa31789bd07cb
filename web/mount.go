package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/static"
	"github.com/tekrar/tekrar/views"
)

// route is one row of the table below. Query lists the parameters a GET knows;
// any other is refused, so that a mistyped filter never means "everything".
type route struct {
	method, path string
	action       action
	query        []string
	handle       func(*request) error
	open         bool // needs no login: holds no data
	api          bool // for programs: JSON in, JSON or a problem out
	scrape       bool // the metrics token opens it, too
}

var routes = []route{
	{method: "GET", path: "/", handle: overviewShow},

	{method: "GET", path: "/jobs", handle: jobsList, query: append(listParams[:len(listParams):len(listParams)], "after")},
	{method: "GET", path: "/jobs/export", handle: jobsExport, query: append(listParams[:len(listParams):len(listParams)], "format")},
	{method: "POST", path: "/jobs/confirm", handle: jobsConfirm, action: confirm},
	{method: "POST", path: "/jobs/act", handle: jobsAct, action: confirm},
	{method: "POST", path: "/jobs/views", handle: viewsSet, action: changeTheme}, // of one's own browser, too
	{method: "GET", path: "/jobs/:id", handle: jobShow, query: []string{"before", "tab"}},
	{method: "GET", path: "/jobs/:id/copy", handle: jobCopyForm, action: enqueue},
	{method: "POST", path: "/jobs/:id/copy", handle: jobCopy, action: enqueue},

	{method: "GET", path: "/failures", handle: failuresList},
	{method: "POST", path: "/failures/confirm", handle: failuresConfirm, action: muteFailures},
	{method: "POST", path: "/failures/act", handle: failuresAct, action: muteFailures},

	{method: "POST", path: "/bulk/confirm", handle: bulkConfirm, action: confirm},
	{method: "POST", path: "/bulk/start", handle: bulkStart, action: confirm},
	{method: "POST", path: "/bulk/act", handle: bulkAct, action: confirm},
	{method: "GET", path: "/bulk/:id", handle: bulkShow},

	{method: "GET", path: "/audit", handle: auditList, query: []string{"actor", "action", "before"}},

	{method: "GET", path: "/attempts", handle: attemptsShow, query: []string{"span", "scale", "kind", "queue", "version"}},

	{method: "GET", path: "/queues", handle: queuesList},
	{method: "POST", path: "/queues/act", handle: queuesAct, action: pauseQueue},
	{method: "GET", path: "/queues/*", handle: queueShow},

	{method: "GET", path: "/recurring", handle: recurringList, query: []string{"id"}},
	{method: "GET", path: "/recurring/*", handle: recurringShow},
	{method: "GET", path: "/recurring-new", handle: recurringNew, action: editRecurring},
	{method: "POST", path: "/recurring-save", handle: recurringSave, action: editRecurring},
	{method: "POST", path: "/recurring-confirm", handle: recurringConfirm, action: confirm},
	{method: "POST", path: "/recurring-act", handle: recurringAct, action: confirm},

	{method: "GET", path: "/servers", handle: serversList},

	{method: "GET", path: "/claims", handle: claimsList, query: []string{"tab", "after", "key"}},
	{method: "GET", path: "/claims/*", handle: claimShow},
	{method: "POST", path: "/claims-confirm", handle: claimsConfirm, action: confirm},
	{method: "POST", path: "/claims-act", handle: claimsAct, action: decideClaim},
	{method: "POST", path: "/claims-purge", handle: claimsPurge, action: purgeClaims},
	{method: "GET", path: "/calls", handle: callsList, query: []string{"key", "job", "before"}},

	{method: "GET", path: "/demo", handle: demoShow},
	{method: "POST", path: "/demo/enqueue", handle: demoEnqueue, action: enqueue},
	{method: "GET", path: "/demo/provider", handle: providerShow, query: []string{"key"}},
	{method: "POST", path: "/demo/provider-turn", handle: providerTurn, action: turnSwitches},

	{method: "POST", path: "/theme", handle: themeSet, action: changeTheme},

	{method: "GET", path: "/api/openapi.json", handle: openAPIShow, api: true},
	{method: "GET", path: "/api/jobs", handle: apiJobsList, api: true, query: append(listParams[:len(listParams):len(listParams)], "after", "limit")},
	{method: "POST", path: "/api/jobs", handle: apiJobsEnqueue, api: true, action: enqueue},
	{method: "GET", path: "/api/jobs/:id", handle: apiJobShow, api: true, query: []string{"before", "limit"}},
	{method: "POST", path: "/api/jobs/:id/requeue", handle: apiJobRequeue, api: true, action: requeue},
	{method: "POST", path: "/api/jobs/:id/delete", handle: apiJobAct("delete"), api: true, action: remove},
	{method: "POST", path: "/api/jobs/:id/cancel", handle: apiJobAct("cancel"), api: true, action: remove},
	{method: "POST", path: "/api/jobs/:id/restore", handle: apiJobAct("restore"), api: true, action: restore},
	{method: "GET", path: "/api/queues", handle: apiQueuesList, api: true},
	{method: "POST", path: "/api/queues/:name/pause", handle: apiQueuePause, api: true, action: pauseQueue},
	{method: "POST", path: "/api/queues/:name/resume", handle: apiQueueResume, api: true, action: pauseQueue},
	{method: "GET", path: "/api/recurring", handle: apiRecurringList, api: true},
	{method: "GET", path: "/api/recurring/:id", handle: apiRecurringShow, api: true},
	{method: "PUT", path: "/api/recurring/:id", handle: apiRecurringSave, api: true, action: editRecurring},
	{method: "POST", path: "/api/recurring/:id/run", handle: apiRecurringRun, api: true, action: runRecurring},
	{method: "POST", path: "/api/recurring/:id/pause", handle: apiRecurringAct((*jobs.Client).PauseRecurring), api: true, action: pauseRecurring},
	{method: "POST", path: "/api/recurring/:id/resume", handle: apiRecurringAct((*jobs.Client).ResumeRecurring), api: true, action: pauseRecurring},
	{method: "POST", path: "/api/recurring/:id/remove", handle: apiRecurringAct((*jobs.Client).RemoveRecurring), api: true, action: removeRecurring},
	{method: "GET", path: "/api/servers", handle: apiServersList, api: true},
	{method: "GET", path: "/api/claims", handle: apiClaimsList, api: true, query: []string{"tab", "after", "limit", "key"}},
	{method: "POST", path: "/api/claims/:key/delivered", handle: apiClaimAct("delivered"), api: true, action: decideClaim},
	{method: "POST", path: "/api/claims/:key/not-delivered", handle: apiClaimAct("not-delivered"), api: true, action: decideClaim},
	{method: "POST", path: "/api/claims/:key/again", handle: apiClaimAct("again"), api: true, action: decideClaim},
	{method: "POST", path: "/api/claims/:key/reclaim", handle: apiClaimAct("reclaim"), api: true, action: decideClaim},

	{method: "GET", path: "/live", handle: liveOpen, query: []string{"view", "ids", "vs"}},
	{method: "GET", path: "/static/:name", handle: assetShow, open: true},
	{method: "GET", path: "/metrics", handle: metricsShow, scrape: true},
	{method: "GET", path: "/healthz", handle: healthShow, open: true},
	{method: "GET", path: "/readyz", handle: readyShow, open: true},
}

// Dashboard is a mounted dashboard.
type Dashboard struct {
	o      Options
	client *jobs.Client
	db     *jobs.DB
	prefix string // as browsers see it
	links  views.Links
	log    *slog.Logger
	hub    *hub
	clock  clock

	refused *refusals
	metrics *metrics

	failures failuresSeen
	past     pastSeen

	claimsOf *idempotency.Claims

	stopWatch context.CancelFunc
	watching  sync.WaitGroup
	closeOnce sync.Once
}

// Mount adds the dashboard's routes under prefix ("/jobs"; "" or "/" is the root)
// and starts its live part. Everything under prefix belongs to the dashboard from
// then on. Mount it on the app itself or on a group; inside an app that is mounted
// in another app, set Options.ExternalPrefix. Call Close before the app's Shutdown,
// which does not end open sockets.
func Mount(app fiber.Router, prefix string, client *jobs.Client, o Options) (*Dashboard, error) {
	if client == nil {
		return nil, errors.New("web: client: must not be nil")
	}
	if o.Access.identify == nil {
		return nil, errors.New("web: Options.Access: must be set to web.None(), web.Basic(users), web.BasicUsers, web.ProxyHeader or web.Authorize(hook)")
	}
	mounted, err := cleanPrefix(prefix)
	if err != nil {
		return nil, err
	}
	seen := mounted
	if group, ok := app.(*fiber.Group); ok {
		seen = group.Prefix + mounted
	}
	if o.ExternalPrefix != "" {
		seen = o.ExternalPrefix
	}
	if seen, err = cleanPrefix(seen); err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	d := &Dashboard{
		o: o, client: client, db: client.DB(), prefix: seen, log: o.Logger, hub: newHub(), refused: newRefusals(o.Logger), metrics: newMetrics(),
		links: views.Links{Prefix: seen, Assets: static.Names()},
	}
	if d.claimsOf, err = idempotency.New(d.db, idempotency.Config{Logger: o.Logger}); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	d.addRoutes(app, mounted)
	d.watch()
	return d, nil
}

// addRoutes also answers other methods (405) and unknown paths (404) under the
// prefix, because the app's own error handler knows nothing of our pages.
func (d *Dashboard) addRoutes(app fiber.Router, mounted string) {
	allowed := map[string]string{}
	for i, r := range routes {
		paths := []string{mounted + r.path}
		if r.path == "/" && mounted != "" {
			paths = append(paths, mounted) // another path on an app with StrictRouting
		}
		for _, path := range paths {
			allow := r.method
			if r.method == fiber.MethodGet {
				allow = "GET, HEAD"
				app.Add(fiber.MethodHead, path, d.serve(r))
			}
			app.Add(r.method, path, d.serve(r))
			if allow = strings.TrimPrefix(allowed[path]+", "+allow, ", "); i+1 < len(routes) && routes[i+1].path == r.path {
				allowed[path] = allow // the next row is another method of the same path
				continue
			}
			app.All(path, d.serve(route{handle: wrongMethod(allow), open: true, api: r.api}))
		}
	}
	app.All(mounted+"/api/*", d.serve(route{handle: nothingHere, api: true}))
	app.All(mounted+"/*", d.serve(route{handle: nothingHere}))
}

// watch passes the engine's hints to the hub. Polling is complete without them.
func (d *Dashboard) watch() {
	ctx, cancel := context.WithCancel(context.Background())
	d.stopWatch = cancel
	changes := d.client.Watch(ctx)
	d.watching.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case change, ok := <-changes:
				if !ok {
					return
				}
				d.hub.hint(change.IDs, change.All)
			}
		}
	})
}

// Close ends the live part: no new socket is taken, open ones are told that the
// server goes away (code 1001) and waited for, at most five seconds or until ctx
// ends. Pages and actions go on until the app itself stops.
func (d *Dashboard) Close(ctx context.Context) (err error) {
	d.closeOnce.Do(func() {
		d.stopWatch()
		d.watching.Wait()
		err = d.hub.close(ctx)
	})
	return err
}

// Prefix is the path under which browsers see the dashboard, "" at the root.
func (d *Dashboard) Prefix() string { return d.prefix }
