package web

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// errPart: a part of a live page could not be read; the look is left out.
var errPart = errors.New("part of the page could not be read")

// look reads what a page shows again.
type look = func(context.Context) (picture, error)

// sketch draws a part under a layout (whose Now it shows ages by) and a version;
// v as in piece.
type sketch struct {
	id   string
	v    int64
	draw func(views.Layout, int64) templ.Component
}

// picture turns sketches into pieces under the layout of fragments.
func (d *Dashboard) picture(l views.Layout, sketches ...sketch) picture {
	p := picture{now: d.clock.now()}
	for _, s := range sketches {
		p.add(l, s)
	}
	return p
}

func (p *picture) add(l views.Layout, s sketch) {
	p.pieces = append(p.pieces, piece{id: s.id, v: s.v, draw: func(now time.Time, v int64) (string, error) {
		at := l
		at.Now = now
		return draw(s.draw(at, v))
	}})
}

// addRows reads the given jobs and adds their rows. Those that stay does not hold
// for have left the page's filter and are dimmed.
func (d *Dashboard) addRows(ctx context.Context, p *picture, l views.Layout, ids []int64, known handledKinds, stay func(store.JobRow) bool) error {
	if len(ids) == 0 {
		return nil
	}
	rows, err := d.db.JobRows(ctx, ids)
	if err != nil {
		return cut(ctx, err)
	}
	for _, j := range rows {
		row := presentRow(j, known)
		row.Gone = !stay(j)
		p.add(l, sketch{"job-row-" + strconv.FormatInt(j.ID, 10), j.HistoryID, func(l views.Layout, v int64) templ.Component {
			row.Version = v
			return views.JobRow(l, row)
		}})
	}
	return nil
}
