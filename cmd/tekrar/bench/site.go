package bench

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/web"
)

// site is a dashboard that is served on a free port of this machine.
type site struct {
	app       *fiber.App
	dashboard *web.Dashboard
	host      string
	ended     chan struct{}
}

func serve(c *jobs.Client) (*site, error) {
	s := &site{app: fiber.New(fiber.Config{Immutable: true, DisableStartupMessage: true}), ended: make(chan struct{})}
	var err error
	if s.dashboard, err = web.Mount(s.app, "/", c, web.Options{Access: web.None(), Logger: slog.New(slog.DiscardHandler)}); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.host = listener.Addr().String()
	go func() { defer close(s.ended); _ = s.app.Listener(listener) }()
	return s, nil
}

func (s *site) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := errors.Join(s.dashboard.Close(ctx), s.app.ShutdownWithContext(ctx))
	<-s.ended
	return err
}

// pages are all lists and summaries.
var pages = append([]string{"/jobs/1", "/jobs?state=scheduled", "/jobs?state=failed", "/jobs?state=succeeded&kind=aged-3",
	"/attempts?span=30d", "/failures", "/recurring", "/claims", "/calls", "/audit"}, looked...)

// slowestPage is the highest 95th percentile of the time that a page takes, in ms.
func slowestPage(c *jobs.Client) (float64, error) {
	const times = 20
	s, err := serve(c)
	if err != nil {
		return 0, err
	}
	var worst float64
	for _, page := range pages {
		var took []time.Duration
		for range times {
			began := time.Now()
			if _, err := get("http://" + s.host + page); err != nil {
				return 0, errors.Join(err, s.close())
			}
			took = append(took, time.Since(began))
		}
		worst = max(worst, quantile(took, .95))
	}
	return worst, s.close()
}
