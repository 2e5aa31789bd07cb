package main

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/tekrar/tekrar/store"
)

// jobJSON is a job for machines. Ids are strings: many readers of JSON round
// numbers above 2⁵³.
type jobJSON struct {
	ID         string          `json:"id"`
	Kind       string          `json:"kind"`
	Queue      string          `json:"queue"`
	State      string          `json:"state"`
	Attempt    int             `json:"attempt"`
	Retry      int             `json:"retry"`
	MaxRetries *int            `json:"max_retries"`
	Losses     int             `json:"losses"`
	Priority   int             `json:"priority"`
	CreatedAt  time.Time       `json:"created_at"`
	Since      time.Time       `json:"since"`
	RunAt      *time.Time      `json:"run_at,omitempty"`
	Server     *string         `json:"server,omitempty"`
	Reason     string          `json:"reason,omitempty"`
	ErrorType  string          `json:"error_type,omitempty"`
	ErrorLine  string          `json:"error,omitempty"`
	Args       json.RawMessage `json:"args,omitempty"`
	Policy     json.RawMessage `json:"policy,omitempty"`
	PolicyFrom string          `json:"policy_from,omitempty"`
	History    []historyJSON   `json:"history,omitempty"`
	Total      int             `json:"history_total,omitempty"`
}

type historyJSON struct {
	ID       string          `json:"id"`
	At       time.Time       `json:"at"`
	State    string          `json:"state"`
	Attempt  int             `json:"attempt"`
	Reason   string          `json:"reason,omitempty"`
	Actor    string          `json:"actor,omitempty"`
	Server   string          `json:"server,omitempty"`
	Worker   *int            `json:"worker,omitempty"`
	Latency  *float64        `json:"latency_seconds,omitempty"`
	Duration *float64        `json:"duration_seconds,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
}

func rowJSON(r store.JobRow) jobJSON {
	return jobJSON{
		ID: strconv.FormatInt(r.ID, 10), Kind: r.Kind, Queue: r.Queue, State: r.State.String(),
		Attempt: r.Attempt, Retry: r.Retry, MaxRetries: r.MaxRetries, Losses: r.Losses, Priority: r.Priority,
		CreatedAt: r.CreatedAt.UTC(), Since: r.Since.UTC(), RunAt: r.RunAt, Server: r.Server,
		Reason: r.Reason, ErrorType: r.ErrorType, ErrorLine: r.ErrorLine,
	}
}

func detailJSON(d store.JobDetail) jobJSON {
	j := rowJSON(d.JobRow)
	j.Args, j.Policy, j.PolicyFrom, j.Total = d.Args, d.Policy, d.PolicyFrom, d.HistoryTotal
	for _, h := range d.History {
		j.History = append(j.History, historyJSON{
			ID: strconv.FormatInt(h.ID, 10), At: h.At.UTC(), State: h.State.String(), Attempt: h.Attempt,
			Reason: h.Reason, Actor: h.Actor, Server: h.Server, Worker: h.Worker,
			Latency: seconds(h.Latency), Duration: seconds(h.Duration), Data: h.Data,
		})
	}
	return j
}

func seconds(d *time.Duration) *float64 {
	if d == nil {
		return nil
	}
	s := d.Seconds()
	return &s
}
