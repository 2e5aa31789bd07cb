package bookstore

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/web"
)

// DemoPage is every card of the bookshop, with the counted mails below.
func (l *Lab) DemoPage() *web.Demo {
	return &web.Demo{Cards: slices.Concat(Cards(), LabCards()), Reports: l.reports, Provider: l.providerPage()}
}

// LabCards are the scenarios about running twice. Each press plays with a new
// invoice, so a card ends the same however often it is pressed.
func LabCards() []web.Card {
	var cards []web.Card
	for _, s := range scenarios() {
		cards = append(cards, web.Card{
			Key: s.key, Title: s.title, Kind: Scenario{}.Kind(), Story: s.story,
			Expect: s.expect + " It takes a few seconds; load this page again and find the count at its end.",
			Count:  1, MaxCount: 10,
			Item: func(map[string]string, int) (jobs.Item, error) {
				return jobs.Item{Args: Scenario{Card: s.key}}, nil
			},
		})
	}
	return cards
}

const shownRuns, shownRequests = 10, 20

// reports is what the scenarios came to, and what the provider was asked.
func (l *Lab) reports(ctx context.Context) ([]web.Report, error) {
	runs, err := l.Runs(ctx, shownRuns)
	if err != nil {
		return nil, err
	}
	ended := web.Report{Title: "What the scenarios came to",
		Lead: "The mails are counted at the provider. Nothing has been played yet."}
	for _, r := range runs {
		title := r.Card
		if s, known := findScenario(r.Card); known {
			title = s.title
		}
		ended.Rows = append(ended.Rows, web.ReportRow{JobID: r.JobID, Bad: !r.AsTold, Cells: []string{clockTime(r.At), title, r.Verdict}})
	}
	if len(runs) > 0 {
		ended.Lead, ended.Head = "The mails are counted at the provider.", []string{"Ended, UTC", "Scenario", "Counted"}
	}
	return []web.Report{ended, l.providerReport()}, nil
}

func (l *Lab) providerReport() web.Report {
	r := web.Report{Title: "The mail provider",
		Lead: "Its log since the program started, newest first. Ask it yourself: POST " + l.url + ` with {"to":"ada@example.com"} and a header Idempotency-Key.`}
	for _, a := range l.provider.Log(shownRequests) {
		key, outcome := a.Key, []string{}
		if key == "" {
			key = "none"
		}
		if a.Delivered {
			outcome = append(outcome, "delivered "+a.MessageID)
		}
		if a.Replayed {
			outcome = append(outcome, "repeated its answer for "+a.MessageID)
		}
		switch {
		case a.Status == 0:
			outcome = append(outcome, "gave no answer")
		case a.Status != 200:
			outcome = append(outcome, "answered "+strconv.Itoa(a.Status))
		}
		r.Rows = append(r.Rows, web.ReportRow{Cells: []string{clockTime(a.At), a.To, key, strings.Join(outcome, ", ")}})
	}
	if len(r.Rows) > 0 {
		r.Head = []string{"At, UTC", "To", "Idempotency key", "What it did"}
	}
	return r
}

func clockTime(t time.Time) string { return t.UTC().Format(time.TimeOnly) }
