package web

import (
	"strconv"

	"github.com/gofiber/fiber/v2"
)

type apiServer struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Host       string   `json:"host"`
	PID        int      `json:"pid"`
	Version    string   `json:"version,omitempty"`
	Live       bool     `json:"live"`
	Slots      int      `json:"slots"`
	Running    int      `json:"running"`
	Listening  bool     `json:"listening"`
	Queues     []string `json:"queues"`
	Kinds      []string `json:"kinds"`
	StartedAt  string   `json:"started_at"`
	SeenAt     string   `json:"seen_at"`
	LeaseUntil string   `json:"lease_until"`
	DrainingAt string   `json:"draining_at,omitempty"`
	StoppedAt  string   `json:"stopped_at,omitempty"`
	LostAt     string   `json:"lost_at,omitempty"`
}

func apiServersList(r *request) error {
	ctx, cancel := r.timed()
	defer cancel()
	rows, err := r.d.servers(ctx)
	if err != nil {
		return cut(ctx, err)
	}
	list := make([]apiServer, len(rows))
	for i, s := range rows {
		list[i] = apiServer{
			ID: strconv.FormatInt(s.ID, 10), Name: s.Name, Host: s.Host, PID: s.PID, Version: s.Version, Live: isLive(s), Slots: s.Slots,
			Running: s.Running, Listening: s.Listening, Queues: listed(s.Queues), Kinds: listed(s.Kinds), StartedAt: exportTime(&s.StartedAt),
			SeenAt: exportTime(&s.SeenAt), LeaseUntil: exportTime(&s.LeaseUntil), DrainingAt: exportTime(s.DrainingAt),
			StoppedAt: exportTime(s.StoppedAt), LostAt: exportTime(s.LostAt),
		}
	}
	return r.answer(fiber.StatusOK, map[string]any{"servers": list})
}

// listed is never null in JSON.
func listed(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}
