package web

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

const maxDelay = 24 * time.Hour

// demoEnqueue enqueues a scenario card as its form says. What was typed wrongly is
// said at the card, with everything typed kept.
func demoEnqueue(r *request) error {
	if r.d.o.Demo == nil {
		return store.ErrNotFound
	}
	key, err := r.field("card")
	if err != nil {
		return err
	}
	i := slices.IndexFunc(r.d.o.Demo.Cards, func(c Card) bool { return c.Key == key })
	if i < 0 {
		return badInput("Field card: unknown %s.", shorten(key))
	}
	card, typed := r.d.o.Demo.Cards[i], map[string]string{}
	for _, name := range card.formFields() {
		if typed[name], err = r.field(name); err != nil {
			return err
		}
	}
	items, err := card.items(typed)
	if err != nil {
		return r.demoAgain(i, typed, err)
	}
	ctx, cancel := context.WithTimeout(r.UserContext(), actWait)
	defer cancel()
	done, err := r.d.client.EnqueueMany(ctx, items)
	var wrong *jobs.InputError
	if errors.As(err, &wrong) {
		return r.demoAgain(i, typed, err)
	}
	if err != nil {
		return cut(ctx, err)
	}
	ids := make([]int64, len(done))
	for i, e := range done {
		ids[i] = e.ID
	}
	r.leaveNotice(notice{Do: "enqueue", Card: card.Key, Done: len(ids), Jobs: ranges(ids)})
	return r.seeOther(r.d.links.Demo())
}

func (c Card) formFields() []string {
	names := []string{"count", "delay"}
	for _, f := range c.Fields {
		names = append(names, "arg."+f.Name)
	}
	return names
}

// items builds the jobs from what was typed.
func (c Card) items(typed map[string]string) ([]jobs.Item, error) {
	count, most := 1, max(1, c.MaxCount)
	if text := strings.TrimSpace(typed["count"]); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > most {
			return nil, badInput("Count: must be a whole number from 1 to %s.", strconv.Itoa(most))
		}
		count = n
	}
	var delay time.Duration
	if text := strings.TrimSpace(typed["delay"]); text != "" {
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil || !(seconds >= 0 && seconds <= maxDelay.Seconds()) {
			return nil, badInput("Delay: must be a number of seconds from 0 to %s.", strconv.Itoa(int(maxDelay.Seconds())))
		}
		delay = time.Duration(seconds * float64(time.Second))
	}
	values := map[string]string{}
	for _, f := range c.Fields {
		values[f.Name] = typed["arg."+f.Name]
	}
	items := make([]jobs.Item, count)
	for i := range items {
		item, err := c.Item(values, i)
		if err != nil {
			return nil, err
		}
		if delay > 0 {
			item.Options = append(slices.Clone(item.Options), jobs.In(delay))
		}
		items[i] = item
	}
	return items, nil
}

func (r *request) demoAgain(i int, typed map[string]string, err error) error {
	p := r.d.demoPage()
	card := &p.Cards[i]
	card.Error, card.Count, card.Delay = err.Error(), typed["count"], typed["delay"]
	if said, ok := refusalOf(err); ok {
		card.Error = said.in(r.locale())
	}
	for f := range card.Fields {
		card.Fields[f].Value = typed["arg."+card.Fields[f].Name]
	}
	return r.page(fiber.StatusBadRequest, views.DemoPage(r.layout(r.locale().Say("Demo"), "demo"), p))
}
