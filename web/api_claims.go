package web

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/store"
)

type apiClaim struct {
	Key        string          `json:"key"`
	Token      string          `json:"token"`
	State      string          `json:"state"`
	Stale      bool            `json:"stale"`
	Generation int             `json:"generation"`
	Reclaims   int             `json:"reclaims"`
	Duplicates int             `json:"duplicates"`
	JobID      string          `json:"job_id,omitempty"`
	Attempt    int             `json:"attempt,omitempty"`
	Holder     string          `json:"holder,omitempty"`
	ClaimedAt  string          `json:"claimed_at"`
	BegunAt    string          `json:"begun_at,omitempty"`
	EffectAt   string          `json:"effect_at,omitempty"`
	DoubtAt    string          `json:"doubt_at,omitempty"`
	SettledAt  string          `json:"settled_at,omitempty"`
	Until      string          `json:"until"`
	Reason     string          `json:"reason,omitempty"`
	Receipt    json.RawMessage `json:"receipt,omitempty"`
}

// apiClaimsList is a page of a tab, or the one claim of a key, if there is one.
func apiClaimsList(r *request) error {
	key, err := r.query("key")
	if err != nil {
		return err
	}
	f, err := readClaimsFilter(r.query)
	if err != nil {
		return err
	}
	limit, err := r.limit(apiPage)
	if err != nil {
		return err
	}
	ctx, cancel := r.timed()
	defer cancel()
	var rows []store.Effect
	var next store.EffectCursor
	if key == "" {
		rows, next, err = r.d.effectPage(ctx, f.tab, f.after, limit)
	} else if one, failed := r.d.effect(ctx, key); !errors.Is(failed, store.ErrNotFound) {
		rows, err = []store.Effect{one}, failed
	}
	if err != nil {
		return cut(ctx, err)
	}
	list := make([]apiClaim, len(rows))
	for i, e := range rows {
		list[i] = apiClaimOf(e)
	}
	return r.answer(fiber.StatusOK, struct {
		Claims []apiClaim `json:"claims"`
		Next   string     `json:"next,omitempty"`
	}{list, next.String()})
}

func apiClaimOf(e store.Effect) apiClaim {
	out := apiClaim{
		Key: e.Key, Token: strconv.FormatInt(e.Token, 10), State: e.State.String(), Stale: e.Stale, Generation: e.Generation,
		Reclaims: e.Reclaims, Duplicates: e.Duplicates, JobID: idOrNone(e.Holder.JobID), Attempt: e.Holder.Attempt, Holder: e.Holder.Name,
		ClaimedAt: exportTime(&e.ClaimedAt), BegunAt: exportTime(e.BegunAt), EffectAt: exportTime(e.EffectAt), DoubtAt: exportTime(e.DoubtAt),
		SettledAt: exportTime(e.SettledAt), Until: exportTime(&e.Until), Reason: e.Reason,
	}
	if string(e.Receipt) != "null" {
		out.Receipt = e.Receipt
	}
	return out
}
