package web

import (
	"context"
	"hash/fnv"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

const (
	// maxRecurring bounds the rows of the list.
	maxRecurring = 500
	// maxNumbered bounds the address of its socket, which has to fit into the 4 KB that
	// a Fiber app takes unless told otherwise. A longer list raises no news.
	maxNumbered = 200
)

// recurringList is the list, or the page of one whose id no path can carry.
func recurringList(r *request) error {
	id, err := r.query("id")
	if err != nil {
		return err
	}
	if id != "" {
		return r.recurringPage(id)
	}
	ctx, cancel := r.timed()
	defer cancel()
	rows, ok := load(ctx, r.d, "recurring jobs", r.d.db.RecurringAll)
	p, status := views.RecurringProps{LoadFailed: !ok}, fiber.StatusOK
	if !ok {
		status = fiber.StatusServiceUnavailable
	}
	p.More = max(0, len(rows)-maxRecurring)
	for _, row := range rows[:len(rows)-p.More] {
		p.Rows = append(p.Rows, r.d.presentRecurring(r.locale(), row))
	}
	l := r.layout(r.locale().Say("Recurring"), "recurring")
	l.LiveURL = r.d.recurringLive(l.Here, rows)
	return r.page(status, views.RecurringPage(l, p))
}

// recurringLive names the rows of the page by numbers, as the socket's address
// takes them, so that others count as new.
func (d *Dashboard) recurringLive(here string, rows []store.RecurringRow) string {
	var numbers []string
	for _, r := range rows {
		numbers = append(numbers, strconv.FormatInt(recurringNumber(r.ID), 10))
	}
	u := d.links.Path("/live") + "?view=" + url.QueryEscape(here)
	if n := len(numbers); n > 0 && n <= maxNumbered {
		u += "&ids=" + strings.Join(numbers, ",")
	}
	return u
}

// recurringNumber stands for an id where only numbers go. Two that are the same
// would hide that one of them is new, and nothing else.
func recurringNumber(id string) int64 {
	h := fnv.New32a()
	h.Write([]byte(id))
	return int64(h.Sum32()) + 1
}

// recurringLook draws every row that the page may have; those it has not are news.
func (d *Dashboard) recurringLook(l views.Layout, shown []int64) look {
	return func(ctx context.Context) (picture, error) {
		rows, err := d.db.RecurringAll(ctx)
		if err != nil {
			return picture{}, cut(ctx, err)
		}
		p := d.picture(l)
		if len(shown) > 0 || len(rows) <= maxNumbered {
			p.news = newRecurring(rows, shown)
		}
		for _, r := range rows[:min(len(rows), maxRecurring)] {
			row := d.presentRecurring(l.Locale, r)
			p.add(l, sketch{views.RecurringRowID(r.ID), 0, func(l views.Layout, v int64) templ.Component {
				row := row
				row.Version = v
				return views.RecurringRow(l, row)
			}})
		}
		return p, nil
	}
}

func newRecurring(rows []store.RecurringRow, shown []int64) (n int) {
	for _, r := range rows {
		if !slices.Contains(shown, recurringNumber(r.ID)) {
			n++
		}
	}
	return n
}
