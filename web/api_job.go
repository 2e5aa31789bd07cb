package web

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/tekrar/tekrar/store"
)

// apiJob is a job as programs read it. Ids are text, because a reader in JavaScript
// would round them; times are RFC 3339 in UTC; what does not apply is not there.
type apiJob struct {
	ID         string          `json:"id"`
	Kind       string          `json:"kind"`
	Queue      string          `json:"queue"`
	State      string          `json:"state"`
	Attempt    int             `json:"attempt"`
	Retry      int             `json:"retry"`
	Losses     int             `json:"losses"`
	MaxRetries *int            `json:"max_retries,omitempty"`
	Priority   int             `json:"priority"`
	CreatedAt  string          `json:"created_at"`
	Since      string          `json:"since"`
	RunAt      string          `json:"run_at,omitempty"`
	Cause      string          `json:"cause,omitempty"`
	Server     string          `json:"server,omitempty"`
	ErrorType  string          `json:"error_type,omitempty"`
	Error      string          `json:"error,omitempty"`
	Reason     string          `json:"reason,omitempty"`
	Args       json.RawMessage `json:"args,omitempty"`
}

var causeNames = map[store.Cause]string{store.CauseAsked: "asked", store.CauseRetry: "retry", store.CauseSnooze: "snooze"}

func apiJobOf(j store.JobRow, args json.RawMessage) apiJob {
	return apiJob{
		ID: strconv.FormatInt(j.ID, 10), Kind: j.Kind, Queue: j.Queue, State: j.State.String(),
		Attempt: j.Attempt, Retry: j.Retry, Losses: j.Losses, MaxRetries: j.MaxRetries, Priority: j.Priority,
		CreatedAt: exportTime(&j.CreatedAt), Since: exportTime(&j.Since), RunAt: exportTime(j.RunAt), Cause: causeNames[j.Cause],
		Server: serverOf(j), ErrorType: j.ErrorType, Error: j.ErrorLine, Reason: j.Reason, Args: args,
	}
}

type apiJobDetail struct {
	apiJob
	Tags         []string        `json:"tags"`
	Policy       json.RawMessage `json:"policy,omitempty"`
	PolicyFrom   string          `json:"policy_from,omitempty"`
	TimeoutMS    *int64          `json:"timeout_ms,omitempty"`
	StuckAt      string          `json:"stuck_at,omitempty"`
	Cancel       *apiCancel      `json:"cancel,omitempty"`
	RecurringID  string          `json:"recurring_id,omitempty"`
	FireAt       string          `json:"fire_at,omitempty"`
	History      []apiHistory    `json:"history"`
	HistoryTotal int             `json:"history_total"`
	Older        string          `json:"older,omitempty"`
}

type apiCancel struct {
	At             string `json:"at"`
	By             string `json:"by"`
	AcknowledgedAt string `json:"acknowledged_at,omitempty"`
}

type apiHistory struct {
	ID         string          `json:"id"`
	At         string          `json:"at"`
	State      string          `json:"state"`
	Attempt    int             `json:"attempt"`
	Reason     string          `json:"reason,omitempty"`
	Actor      string          `json:"actor,omitempty"`
	Server     string          `json:"server,omitempty"`
	Worker     *int            `json:"worker,omitempty"`
	LatencyUS  *int64          `json:"latency_us,omitempty"`
	DurationUS *int64          `json:"duration_us,omitempty"`
	Data       json.RawMessage `json:"data,omitempty"`
}

func apiJobDetailOf(d store.JobDetail, limit int) apiJobDetail {
	out := apiJobDetail{
		apiJob: apiJobOf(d.JobRow, d.Args), Tags: d.Tags, Policy: d.Policy, PolicyFrom: d.PolicyFrom, TimeoutMS: d.TimeoutMS,
		StuckAt: exportTime(d.StuckAt), RecurringID: d.RecurringID, FireAt: exportTime(d.FireAt),
		History: make([]apiHistory, len(d.History)), HistoryTotal: d.HistoryTotal,
	}
	if out.Tags == nil {
		out.Tags = []string{}
	}
	if d.Cancel != nil {
		out.Cancel = &apiCancel{At: exportTime(&d.Cancel.At), By: d.Cancel.By, AcknowledgedAt: exportTime(d.Cancel.AcknowledgedAt)}
	}
	for i, h := range d.History {
		out.History[i] = apiHistory{
			ID: strconv.FormatInt(h.ID, 10), At: exportTime(&h.At), State: h.State.String(), Attempt: h.Attempt, Reason: h.Reason,
			Actor: h.Actor, Server: h.Server, Worker: h.Worker, LatencyUS: micros(h.Latency), DurationUS: micros(h.Duration), Data: h.Data,
		}
	}
	if n := len(out.History); n == limit && n < d.HistoryTotal {
		out.Older = out.History[n-1].ID
	}
	return out
}

func micros(d *time.Duration) *int64 {
	if d == nil {
		return nil
	}
	n := d.Microseconds()
	return &n
}
