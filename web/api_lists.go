package web

import (
	"encoding/json"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/store"
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

type apiRecurring struct {
	ID        string          `json:"id"`
	Kind      string          `json:"kind"`
	Queue     string          `json:"queue"`
	Priority  int             `json:"priority"`
	Args      json.RawMessage `json:"args"`
	Spec      string          `json:"spec"`
	Zone      string          `json:"zone"`
	Misfire   string          `json:"misfire"`
	Overlap   string          `json:"overlap"`
	TimeoutMS *int64          `json:"timeout_ms,omitempty"`
	StartAt   string          `json:"start_at,omitempty"`
	EndAt     string          `json:"end_at,omitempty"`
	NextRun   string          `json:"next_run,omitempty"`
	LastFire  string          `json:"last_fire,omitempty"`
	PausedAt  string          `json:"paused_at,omitempty"`
	PausedBy  string          `json:"paused_by,omitempty"`
	RemovedAt string          `json:"removed_at,omitempty"`
	Declared  bool            `json:"declared"`
	Warning   string          `json:"warning,omitempty"`
	Error     string          `json:"error,omitempty"`
	CreatedAt string          `json:"created_at"`
	UpdatedAt string          `json:"updated_at"`
	Fires     []apiFire       `json:"fires"`
}

type apiFire struct {
	FireAt  string `json:"fire_at"`
	Outcome string `json:"outcome"`
	JobID   string `json:"job_id,omitempty"`
	State   string `json:"state,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	Note    string `json:"note,omitempty"`
}

func apiRecurringList(r *request) error {
	ctx, cancel := r.timed()
	defer cancel()
	rows, err := r.d.db.RecurringAll(ctx)
	if err != nil {
		return cut(ctx, err)
	}
	more := max(0, len(rows)-maxRecurring)
	list := make([]apiRecurring, len(rows)-more)
	for i := range list {
		list[i] = r.d.apiRecurringOf(rows[i])
	}
	return r.answer(fiber.StatusOK, map[string]any{"recurring": list, "more": more})
}

func (d *Dashboard) apiRecurringOf(row store.RecurringRow) apiRecurring {
	out := apiRecurring{
		ID: row.ID, Kind: row.Kind, Queue: row.Queue, Priority: row.Priority, Args: d.o.Redact.JSON(row.Args), Spec: row.Spec, Zone: row.Zone,
		Misfire: row.Misfire, Overlap: row.Overlap, TimeoutMS: row.TimeoutMS, StartAt: exportTime(row.StartAt), EndAt: exportTime(row.EndAt),
		NextRun: exportTime(row.NextRun), LastFire: exportTime(row.LastFire), PausedAt: exportTime(row.PausedAt), PausedBy: row.PausedBy,
		RemovedAt: exportTime(row.RemovedAt), Declared: row.Declared, Warning: row.Warning, Error: row.Error,
		CreatedAt: exportTime(&row.CreatedAt), UpdatedAt: exportTime(&row.UpdatedAt), Fires: make([]apiFire, len(row.Last)),
	}
	for i, f := range row.Last {
		fire := apiFire{FireAt: exportTime(&f.FireAt), Outcome: f.Outcome, Attempt: f.Attempt, Note: f.Note}
		if f.JobID != nil {
			fire.JobID = strconv.FormatInt(*f.JobID, 10)
		}
		if f.State != 0 {
			fire.State = f.State.String()
		}
		out.Fires[i] = fire
	}
	return out
}
