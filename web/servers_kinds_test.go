package web_test

import (
	"context"
	"testing"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/web"
)

type far struct{}

func (far) Kind() string { return "far-kind" }

// What the check of a registration found stands on the Servers page, by kind.
func TestServersPageShowsWarningsOfKinds(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	jobs.Handle(x.client, func(context.Context, *jobs.Job[far]) error { return nil }, jobs.CheckPlan(func(p jobs.Plan) ([]string, error) {
		return []string{p.Kind + " goes <too> far"}, nil
	}))
	x.work()
	x.until("the kind is published", func() bool {
		kinds, err := x.db.Kinds(t.Context())
		return err == nil && len(kinds) > 1
	})
	x.get("/servers").wants(t, 200, "far-kind goes &lt;too&gt; far", "1 warning")
}
