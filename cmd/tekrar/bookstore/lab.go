package bookstore

import (
	"context"
	"log/slog"
	"net/http"
	"os/exec"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/jobs/idempotency/outbound"
)

// Lab is the part of the bookshop that shows what running twice does: three ways to
// mail an invoice, three ways to book a sale, and scenarios that make them fail.
type Lab struct {
	client   *jobs.Client
	claims   *idempotency.Claims
	tables   tables
	url      string
	provider *Provider // nil in a worker process
	spawn    func(settings ...string) *exec.Cmd
	fault    *fault // nil: none
	plain    *http.Client
	keyed    *outbound.Client
	keyless  *outbound.Client
	log      *slog.Logger
}

// LabConfig says where the outside world is.
type LabConfig struct {
	// URL is the provider's ProviderPath.
	URL string
	// Provider behind URL, whose mails the scenarios count, and Spawn, which makes a
	// worker process that calls RunWorker with those settings. Without them there
	// are no scenarios.
	Provider *Provider
	Spawn    func(settings ...string) *exec.Cmd
	Logger   *slog.Logger // default slog.Default()
}

// labQueue is served by the worker processes of scenarios only.
const labQueue = "lab"

// providerPatience is how long the shop waits for the mail provider.
const providerPatience = 2 * time.Second

// OpenLab creates the tables and registers the kinds of the lab.
func OpenLab(ctx context.Context, c *jobs.Client, cfg LabConfig) (*Lab, error) {
	return openLab(ctx, c, cfg, nil)
}

func openLab(ctx context.Context, c *jobs.Client, cfg LabConfig, f *fault) (*Lab, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	claims, err := idempotency.New(c.DB(), idempotency.Config{Logger: cfg.Logger})
	if err != nil {
		return nil, err
	}
	l := &Lab{client: c, claims: claims, tables: tables{c.DB()}, url: cfg.URL,
		provider: cfg.Provider, spawn: cfg.Spawn, fault: f, log: cfg.Logger}
	if err := l.tables.create(ctx); err != nil {
		return nil, err
	}
	// No idle connections: net/http sends a POST with a key a second time by itself
	// when one breaks, and the counts would depend on it.
	bare := http.DefaultTransport.(*http.Transport).Clone()
	bare.DisableKeepAlives = true
	l.plain = &http.Client{Timeout: providerPatience, Transport: bare}
	watched := &http.Client{Transport: faulty{l, bare}}
	l.keyed = &outbound.Client{Profile: keyedProfile(), HTTP: watched, Timeout: providerPatience}
	l.keyless = &outbound.Client{Profile: keylessProfile(), HTTP: watched, Timeout: providerPatience}
	l.register(c)
	return l, nil
}

func (l *Lab) register(c *jobs.Client) {
	soon := jobs.Retry(jobs.RetryPolicy{MaxRetries: 3, Delays: []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second}})
	limit := jobs.Timeout(20 * time.Second)
	jobs.Handle(c, l.mailNaive, soon, limit)
	jobs.Handle(c, l.mailClaimFirst, soon, limit)
	jobs.Handle(c, l.mailWithToolkit, soon, limit, outbound.Horizon(idempotency.Strict, keyedProfile(), keylessProfile()))
	jobs.Handle(c, l.decrementStock, soon, limit)
	jobs.Handle(c, l.setStock, soon, limit)
	jobs.Handle(c, l.moveStock, soon, limit)
	if l.provider != nil && l.spawn != nil {
		jobs.Handle(c, l.claims.RunPurge)
		c.Recurring("claims-purge", "30 3 * * *", idempotency.PurgeJob{})
		jobs.Handle(c, l.play, jobs.Retry(jobs.NoRetry()), jobs.Timeout(2*time.Minute))
	}
}
