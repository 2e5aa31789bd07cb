package main

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/tekrar/tekrar/store"
)

// claimJSON is a claim for machines.
type claimJSON struct {
	Key        string          `json:"key"`
	Token      string          `json:"token"`
	State      string          `json:"state"`
	Stale      bool            `json:"stale"`
	JobID      string          `json:"job_id,omitempty"`
	Attempt    int             `json:"attempt,omitempty"`
	Holder     string          `json:"holder,omitempty"`
	Generation int             `json:"generation"`
	Reclaims   int             `json:"reclaims"`
	Duplicates int             `json:"duplicates"`
	ClaimedAt  time.Time       `json:"claimed_at"`
	BegunAt    *time.Time      `json:"begun_at,omitempty"`
	EffectAt   *time.Time      `json:"effect_at,omitempty"`
	DoubtAt    *time.Time      `json:"doubt_at,omitempty"`
	SettledAt  *time.Time      `json:"settled_at,omitempty"`
	Until      time.Time       `json:"until"`
	KeyLife    float64         `json:"key_life_seconds,omitempty"`
	Reason     string          `json:"reason,omitempty"`
	Receipt    json.RawMessage `json:"receipt"`
	Past       json.RawMessage `json:"past,omitempty"`
	Late       []lateJSON      `json:"late_receipts,omitempty"`
}

type lateJSON struct {
	At        time.Time       `json:"at"`
	JobID     string          `json:"job_id,omitempty"`
	Attempt   int             `json:"attempt,omitempty"`
	Duplicate bool            `json:"duplicate"`
	Receipt   json.RawMessage `json:"receipt"`
}

func newClaimJSON(e store.Effect, c config) claimJSON {
	return claimJSON{
		Key: e.Key, Token: strconv.FormatInt(e.Token, 10), State: e.State.String(), Stale: e.Stale, JobID: idOrNone(e.Holder.JobID),
		Attempt: e.Holder.Attempt, Holder: e.Holder.Name, Generation: e.Generation, Reclaims: e.Reclaims, Duplicates: e.Duplicates,
		ClaimedAt: e.ClaimedAt.UTC(), BegunAt: inUTC(e.BegunAt), EffectAt: inUTC(e.EffectAt), DoubtAt: inUTC(e.DoubtAt), SettledAt: inUTC(e.SettledAt),
		Until: e.Until.UTC(), KeyLife: e.KeyLife.Seconds(), Reason: e.Reason, Receipt: c.redact.JSON(e.Receipt),
	}
}

func idOrNone(id int64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}
