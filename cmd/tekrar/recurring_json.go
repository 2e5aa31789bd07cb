package main

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/tekrar/tekrar/store"
)

// recurringJSON is a recurring job for machines.
type recurringJSON struct {
	ID        string          `json:"id"`
	State     string          `json:"state"`
	Kind      string          `json:"kind"`
	Queue     string          `json:"queue"`
	Priority  int             `json:"priority"`
	Spec      string          `json:"spec"`
	Zone      string          `json:"zone"`
	Misfire   string          `json:"misfire"`
	Overlap   string          `json:"overlap"`
	NextRun   *time.Time      `json:"next_run"`
	LastFire  *time.Time      `json:"last_fire"`
	StartAt   *time.Time      `json:"start_at,omitempty"`
	EndAt     *time.Time      `json:"end_at,omitempty"`
	PausedAt  *time.Time      `json:"paused_at,omitempty"`
	PausedBy  string          `json:"paused_by,omitempty"`
	RemovedAt *time.Time      `json:"removed_at,omitempty"`
	Declared  bool            `json:"declared"`
	Warning   string          `json:"warning,omitempty"`
	Error     string          `json:"error,omitempty"`
	Args      json.RawMessage `json:"args"`
	Policy    json.RawMessage `json:"policy,omitempty"`
	Fires     []fireJSON      `json:"fires"`
}

type fireJSON struct {
	At      time.Time `json:"at"`
	JobID   string    `json:"job_id,omitempty"`
	Outcome string    `json:"outcome"`
	State   string    `json:"state,omitempty"`
	Note    string    `json:"note,omitempty"`
}

func newRecurringJSON(r store.RecurringRow, c config) recurringJSON {
	out := recurringJSON{
		ID: r.ID, State: recurringState(r), Kind: r.Kind, Queue: r.Queue, Priority: r.Priority, Spec: r.Spec, Zone: r.Zone,
		Misfire: r.Misfire, Overlap: r.Overlap, NextRun: r.NextRun, LastFire: r.LastFire, StartAt: r.StartAt, EndAt: r.EndAt,
		PausedAt: r.PausedAt, PausedBy: r.PausedBy, RemovedAt: r.RemovedAt, Declared: r.Declared,
		Warning: r.Warning, Error: r.Error, Args: c.redact.JSON(r.Args), Policy: r.Policy, Fires: []fireJSON{},
	}
	for _, f := range r.Last {
		one := fireJSON{At: f.FireAt.UTC(), Outcome: f.Outcome, Note: f.Note}
		if f.JobID != nil {
			one.JobID = strconv.FormatInt(*f.JobID, 10)
		}
		if f.State != 0 {
			one.State = f.State.String()
		}
		out.Fires = append(out.Fires, one)
	}
	return out
}
