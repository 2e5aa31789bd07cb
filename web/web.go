// Package web is the dashboard: pages, actions and the live socket, mounted on a
// Fiber app. It decides nothing about jobs; every write goes through package jobs.
package web

import (
	"context"
	"log/slog"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/web/redact"
)

// Options configures a dashboard. Access must be set; everything else has a default.
type Options struct {
	// Access decides who may see and do what: None(), Basic, BasicUsers, ProxyHeader or
	// Authorize.
	// There is no default, because a dashboard shows arguments and errors of every job.
	Access Access

	// Environment is shown in the top bar ("production"); "" shows none.
	Environment string

	// Demo adds the Demo page with its scenario cards; nil means no such page.
	Demo *Demo

	// ExternalPrefix is the path under which browsers see the dashboard, when it
	// differs from the mount prefix: behind a proxy that strips or adds a path, or
	// inside an app mounted in another app. "" means the mount prefix; "/" the root.
	ExternalPrefix string

	// AllowedOrigins lists origins ("https://ops.example.com") that may act and open
	// the live socket although they differ from the request's Host, as happens behind
	// a proxy that rewrites Host. Compared exactly. Default: the request's own host only.
	AllowedOrigins []string

	// Redact hides values of args, results and receipts in pages and live frames, by
	// key or path; what is stored stays. Error texts and log lines are shown as the
	// handler wrote them. Default redact.Default(): password, token, secret and such.
	Redact *redact.Rules

	// MetricsToken lets a scraper read /metrics, and nothing else, with the header
	// "Authorization: Bearer <token>". "": /metrics takes a viewer's login, as pages do.
	MetricsToken string

	// ReadOnly is asked with every action and page; while it says true the buttons are
	// gone and actions are answered with 503. nil means never. An action on a database
	// that takes no writes is answered so without it, too.
	ReadOnly func() bool

	// Logger gets internal errors, each with the id that the browser was shown.
	// Default slog.Default().
	Logger *slog.Logger
}

// Demo is the content of the Demo page.
type Demo struct {
	Cards []Card

	// Reports is asked with each view of the page, for at most two seconds; its tables
	// stand below the cards. Nil: none.
	Reports func(ctx context.Context) ([]Report, error)

	// Provider has a page of its own, which the Demo page leads to. Nil: none.
	Provider *Provider
}

// Report is a table of the Demo page.
type Report struct {
	Title, Lead string
	Head        []string // of the cells
	Rows        []ReportRow
}

// ReportRow is one line of a Report.
type ReportRow struct {
	JobID int64 // linked; 0: none
	Bad   bool  // not as it should be
	Cells []string
}

// Card is one scenario: a form that enqueues jobs whose outcome is known beforehand.
type Card struct {
	Key, Title, Kind string
	Story, Expect    string
	Count, MaxCount  int           // preset and limit of the count field; MaxCount 0 shows none and enqueues one
	Delay            time.Duration // preset of the delay field
	Fields           []Field

	// Item builds job number i (from 0) from what was typed, by field name. An error
	// is shown at the card and should name the field and the limit.
	Item func(values map[string]string, i int) (jobs.Item, error)
}

// Field is one argument of a card.
type Field struct {
	Name, Label, Value, Hint string
	Number                   bool
}
