package web

import (
	"encoding/json"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/store"
)

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
	Policy    json.RawMessage `json:"policy,omitempty"`
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
		Misfire: row.Misfire, Overlap: row.Overlap, Policy: row.Policy, TimeoutMS: row.TimeoutMS, StartAt: exportTime(row.StartAt), EndAt: exportTime(row.EndAt),
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

func apiRecurringShow(r *request) error {
	id, err := r.named("id")
	if err != nil {
		return err
	}
	return r.apiRecurringNow(fiber.StatusOK, id)
}

// apiRecurringNow answers with what is stored.
func (r *request) apiRecurringNow(status int, id string) error {
	ctx, cancel := r.timed()
	defer cancel()
	row, err := r.d.db.RecurringOne(ctx, id)
	if err != nil {
		return cut(ctx, err)
	}
	return r.answer(status, r.d.apiRecurringOf(row))
}
