package web

import (
	"context"

	"github.com/gofiber/fiber/v2"
)

type apiQueue struct {
	Name         string `json:"name"`
	Depth        int64  `json:"depth"`
	DepthAtLeast bool   `json:"depth_at_least"`
	OldestReady  string `json:"oldest_ready,omitempty"`
	Running      int64  `json:"running"`
	Finished     int64  `json:"finished_5m"`
	Servers      int    `json:"servers"`
	PausedAt     string `json:"paused_at,omitempty"`
	PausedBy     string `json:"paused_by,omitempty"`
}

func apiQueuesList(r *request) error {
	ctx, cancel := r.timed()
	defer cancel()
	rows, err := r.d.db.Queues(ctx)
	if err != nil {
		return cut(ctx, err)
	}
	list := make([]apiQueue, len(rows))
	for i, q := range rows {
		list[i] = apiQueue{q.Name, q.Depth.N, q.Depth.AtLeast, exportTime(q.OldestReady), q.Running, q.Finished, q.Servers, exportTime(q.PausedAt), q.PausedBy}
	}
	return r.answer(fiber.StatusOK, map[string]any{"queues": list})
}

func apiQueuePause(r *request) error { return r.apiPause(true, r.d.client.PauseQueue) }

func apiQueueResume(r *request) error { return r.apiPause(false, r.d.client.ResumeQueue) }

func (r *request) apiPause(paused bool, do func(ctx context.Context, actor, queue string) error) error {
	if err := r.read(&struct{}{}); err != nil {
		return err
	}
	name, err := r.named("name")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.UserContext(), actWait)
	defer cancel()
	if err := do(ctx, r.who.Name, name); err != nil {
		return cut(ctx, err)
	}
	return r.answer(fiber.StatusOK, map[string]any{"name": name, "paused": paused})
}
