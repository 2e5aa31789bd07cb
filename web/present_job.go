package web

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// handledKinds are the kinds that a live server runs.
type handledKinds map[string]bool

func handled(servers []store.ServerRow) handledKinds {
	h := handledKinds{}
	for _, s := range servers {
		if isLive(s) {
			for _, k := range s.Kinds {
				h[k] = true
			}
		}
	}
	return h
}

// presentRow words a job for a list. known is nil when the servers could not be read;
// then no job is called unhandled.
func presentRow(j store.JobRow, known handledKinds) views.JobRowProps {
	p := views.JobRowProps{
		ID: strconv.FormatInt(j.ID, 10), Kind: j.Kind, Queue: j.Queue, State: views.State(j.State.String()),
		Retrying: j.State == store.Scheduled && j.Cause == store.CauseRetry,
		Attempt:  j.Attempt, Retry: j.Retry, MaxRetries: j.MaxRetries, Losses: j.Losses, Priority: j.Priority,
		CreatedAt: j.CreatedAt, Since: j.Since, RunAt: j.RunAt,
		ErrorType: j.ErrorType, ErrorLine: j.ErrorLine, Reason: j.Reason, Version: j.HistoryID,
		Unhandled: known != nil && !known[j.Kind],
	}
	if j.Server != nil && j.State == store.Processing {
		p.Server = *j.Server
	}
	return p
}

func presentRows(rows []store.JobRow, known handledKinds) []views.JobRowProps {
	out := make([]views.JobRowProps, len(rows))
	for i, j := range rows {
		out[i] = presentRow(j, known)
	}
	return out
}

// presentJob words a job for its page.
func presentJob(d store.JobDetail, known handledKinds) views.JobProps {
	p := views.JobProps{
		JobRowProps: presentRow(d.JobRow, known), Args: string(d.Args),
		Policy: string(d.Policy), PolicyFrom: d.PolicyFrom, HistoryTotal: d.HistoryTotal,
		Tags: d.Tags, StuckAt: d.StuckAt,
	}
	if d.Cancel != nil {
		p.Cancel = &views.CancelProps{At: d.Cancel.At, By: d.Cancel.By, AcknowledgedAt: d.Cancel.AcknowledgedAt, Ignored: d.CancelIgnored}
	}
	if d.TimeoutMS != nil {
		timeout := time.Duration(*d.TimeoutMS) * time.Millisecond
		p.Timeout = &timeout
	}
	for _, h := range d.History {
		p.History = append(p.History, presentHistory(h))
	}
	return p
}

// presentSaid words what a handler said.
func presentSaid(s store.Said) views.SaidProps {
	p := views.SaidProps{LogTotal: s.Total, Version: s.Version}
	for _, l := range s.Lines {
		p.Log = append(p.Log, views.LogLineProps{At: l.At, Attempt: l.Attempt, Line: l.Line})
	}
	if g := s.Progress; g != nil {
		p.Progress = &views.ProgressProps{At: g.At, Attempt: g.Attempt, Done: g.Done, Total: g.Total, Message: g.Message}
	}
	return p
}

// historyData is what a history row keeps beside its columns; every key is optional.
type historyData struct {
	Error       string          `json:"error"`
	ErrorType   string          `json:"error_type"`
	Stack       string          `json:"stack"`
	Rule        string          `json:"rule"`
	RunAt       *time.Time      `json:"run_at"`
	Result      json.RawMessage `json:"result"`
	WouldBe     string          `json:"would_be"`
	FreshBudget bool            `json:"fresh_budget"`
	Cancel      *struct {
		At time.Time `json:"at"`
		By string    `json:"by"`
	} `json:"cancel_requested"`
}

func presentHistory(h store.HistoryRow) views.HistoryProps {
	var data historyData
	if len(h.Data) > 0 && json.Unmarshal(h.Data, &data) != nil {
		data = historyData{Error: string(h.Data)} // written by another version: shown as it is
	}
	p := views.HistoryProps{
		ID: strconv.FormatInt(h.ID, 10), At: h.At, State: views.State(h.State.String()), Attempt: h.Attempt,
		Reason: h.Reason, Actor: h.Actor, Server: h.Server, Worker: h.Worker,
		Latency: h.Latency, Duration: h.Duration,
		ErrorType: data.ErrorType, Error: data.Error, Stack: data.Stack, Rule: data.Rule, RunAt: data.RunAt,
		Result: string(data.Result), WouldBe: data.WouldBe, FreshBudget: data.FreshBudget,
	}
	if data.Error != "" || data.ErrorType != "" {
		p.Failure = jobs.Fingerprint(data.ErrorType, data.Error)
	}
	if c := data.Cancel; c != nil {
		p.Cancel = &views.CancelProps{At: c.At, By: c.By}
	}
	return p
}
