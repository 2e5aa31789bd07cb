package web

import (
	"context"
	"encoding/json"

	"github.com/tekrar/tekrar/store"
)

// What a person could see as JSON is read through these, so that nothing hidden gets
// as far as a page, a frame, a download or an answer of the API.

// job reads a job with the hidden values of its args and history replaced.
func (d *Dashboard) job(ctx context.Context, id int64, history int, before int64) (store.JobDetail, error) {
	detail, err := d.db.Job(ctx, id, history, before)
	detail.Args = d.o.Redact.JSON(detail.Args)
	for i := range detail.History {
		detail.History[i].Data = d.o.Redact.JSON(detail.History[i].Data)
	}
	return detail, err
}

// argsOf reads the args of jobs likewise.
func (d *Dashboard) argsOf(ctx context.Context, ids []int64) (map[int64]json.RawMessage, error) {
	args, err := d.db.ArgsOf(ctx, ids)
	for id, raw := range args {
		args[id] = d.o.Redact.JSON(raw)
	}
	return args, err
}

func (d *Dashboard) effect(ctx context.Context, key string) (store.Effect, error) {
	e, err := d.db.Effect(ctx, key)
	return d.hidden([]store.Effect{e})[0], err
}

func (d *Dashboard) effectPage(ctx context.Context, tab store.EffectTab, after store.EffectCursor, limit int) ([]store.Effect, store.EffectCursor, error) {
	rows, next, err := d.db.EffectPage(ctx, tab, after, limit)
	return d.hidden(rows), next, err
}

func (d *Dashboard) effectsByKey(ctx context.Context, keys []string) ([]store.Effect, error) {
	rows, err := d.db.EffectsByKey(ctx, keys)
	return d.hidden(rows), err
}

func (d *Dashboard) jobEffects(ctx context.Context, id int64) ([]store.Effect, error) {
	rows, err := d.db.JobEffects(ctx, id)
	return d.hidden(rows), err
}

func (d *Dashboard) lateReceipts(ctx context.Context, key string) ([]store.LateReceipt, error) {
	late, err := d.db.LateReceipts(ctx, key)
	for i := range late {
		late[i].Receipt = d.o.Redact.JSON(late[i].Receipt)
	}
	return late, err
}

func (d *Dashboard) hidden(rows []store.Effect) []store.Effect {
	for i := range rows {
		rows[i].Receipt, rows[i].Past = d.o.Redact.JSON(rows[i].Receipt), d.o.Redact.JSON(rows[i].Past)
	}
	return rows
}
