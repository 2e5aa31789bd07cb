package web

import (
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

func demoShow(r *request) error {
	if r.d.o.Demo == nil {
		return store.ErrNotFound
	}
	p := r.d.demoPage()
	if n, ok := r.readNotice(); ok {
		for i := range p.Cards {
			if p.Cards[i].Key == n.Card {
				p.Cards[i].Jobs = expand(n.Jobs)
			}
		}
	}
	if r.d.o.Demo.Reports != nil {
		ctx, cancel := r.timed()
		defer cancel()
		reports, ok := load(ctx, r.d, "demo reports", r.d.o.Demo.Reports)
		if p.ReportsFailed = !ok; ok {
			p.Reports = presentReports(reports)
		}
	}
	return r.page(fiber.StatusOK, views.DemoPage(r.layout(r.locale().Say("Demo"), "demo"), p))
}

func presentReports(reports []Report) (out []views.DemoReport) {
	for _, report := range reports {
		v := views.DemoReport{Title: report.Title, Lead: report.Lead, Head: report.Head}
		for _, row := range report.Rows {
			line := views.DemoReportRow{Bad: row.Bad, Cells: row.Cells}
			if row.JobID != 0 {
				line.Job = strconv.FormatInt(row.JobID, 10)
			}
			v.Rows = append(v.Rows, line)
		}
		out = append(out, v)
	}
	return out
}

// demoPage is the cards with their presets.
func (d *Dashboard) demoPage() views.DemoProps {
	var p views.DemoProps
	if d.o.Demo.Provider != nil {
		p.Provider = d.o.Demo.Provider.Title
	}
	for _, c := range d.o.Demo.Cards {
		v := views.DemoCard{
			Key: c.Key, Title: c.Title, Kind: c.Kind, Story: c.Story, Expect: c.Expect,
			Count: strconv.Itoa(max(1, c.Count)), MaxCount: c.MaxCount,
			Delay: strconv.FormatInt(int64(c.Delay.Seconds()), 10),
		}
		for _, f := range c.Fields {
			v.Fields = append(v.Fields, views.DemoField{
				Name: f.Name, Label: f.Label, Value: f.Value, Hint: f.Hint, Number: f.Number,
			})
		}
		p.Cards = append(p.Cards, v)
	}
	return p
}
