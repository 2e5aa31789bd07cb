package web

import (
	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/store"
)

// apiPage is the most rows that one answer has.
const apiPage = 500

// apiJobsList is one page of the list that the Jobs page shows under the same filter.
func apiJobsList(r *request) error {
	f, err := r.d.jobsFilter(r.query)
	if err != nil {
		return err
	}
	if f.Limit, err = r.limit(apiPage); err != nil {
		return err
	}
	ctx, cancel := r.timed()
	defer cancel()
	f, _ = r.d.aim(ctx, f)
	rows, next, err := r.d.db.Jobs(ctx, f)
	if err != nil {
		return cut(ctx, err)
	}
	ids := make([]int64, len(rows))
	for i, j := range rows {
		ids[i] = j.ID
	}
	args, err := r.d.argsOf(ctx, ids)
	if err != nil {
		return cut(ctx, err)
	}
	list := make([]apiJob, len(rows))
	for i, j := range rows {
		list[i] = apiJobOf(j, args[j.ID])
	}
	return r.answer(fiber.StatusOK, struct {
		State string   `json:"state"`
		Jobs  []apiJob `json:"jobs"`
		Next  string   `json:"next,omitempty"`
	}{f.State.String(), list, next.String()})
}

func apiJobShow(r *request) error {
	id, ok := jobID(r.Params("id"))
	if !ok {
		return store.ErrNotFound
	}
	before, err := beforeRow(r.query)
	if err != nil {
		return err
	}
	limit, err := r.limit(apiPage)
	if err != nil {
		return err
	}
	ctx, cancel := r.timed()
	defer cancel()
	detail, err := r.d.job(ctx, id, limit, before)
	if err != nil {
		return cut(ctx, err)
	}
	return r.answer(fiber.StatusOK, apiJobDetailOf(detail, limit))
}
