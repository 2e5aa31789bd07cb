package web

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

func idOrNone(id int64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

func jsonOrNone(raw json.RawMessage) string {
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

func presentClaim(e store.Effect) views.ClaimRowProps {
	return views.ClaimRowProps{
		Key: e.Key, Token: strconv.FormatInt(e.Token, 10), State: views.ClaimState(e.State.String()), Stale: e.Stale,
		Job: idOrNone(e.Holder.JobID), Attempt: e.Holder.Attempt, Holder: e.Holder.Name,
		ClaimedAt: e.ClaimedAt, BegunAt: e.BegunAt, EffectAt: e.EffectAt, DoubtAt: e.DoubtAt, SettledAt: e.SettledAt,
		Until: e.Until, StaleAfter: e.Holder.StaleAfter, KeyLife: e.KeyLife, Generation: e.Generation,
		Reclaims: e.Reclaims, Duplicates: e.Duplicates, Receipt: jsonOrNone(e.Receipt), Reason: e.Reason,
	}
}

func presentClaims(all []store.Effect) (out []views.ClaimRowProps) {
	for _, e := range all {
		out = append(out, presentClaim(e))
	}
	return out
}

// pastEntry is one entry of store.Effect.Past.
type pastEntry struct {
	Job        int64             `json:"job"`
	Attempt    int               `json:"attempt"`
	Holder     string            `json:"holder"`
	State      store.EffectState `json:"state"`
	Generation int               `json:"generation"`
	ClaimedAt  time.Time         `json:"claimed_at"`
	BegunAt    *time.Time        `json:"begun_at"`
	Until      time.Time         `json:"until"`
	Again      string            `json:"sent_again_by"`
	Receipt    json.RawMessage   `json:"receipt"`
}

// pastOf reads the former holders; what another version wrote in another form is
// left out.
func pastOf(e store.Effect) (out []pastEntry) {
	_ = json.Unmarshal(e.Past, &out)
	return out
}

func presentPast(past []pastEntry) (out []views.PastHolder) {
	for _, h := range past {
		out = append(out, views.PastHolder{
			Job: idOrNone(h.Job), Attempt: h.Attempt, Holder: h.Holder, State: views.ClaimState(h.State.String()), Generation: h.Generation,
			ClaimedAt: h.ClaimedAt, Until: h.Until, BegunAt: h.BegunAt, Again: h.Again, AgainProof: jsonOrNone(h.Receipt),
		})
	}
	return out
}

func presentLate(all []store.LateReceipt) (out []views.LateReceipt) {
	for _, r := range all {
		out = append(out, views.LateReceipt{At: r.At, Job: idOrNone(r.JobID), Attempt: r.Attempt, Generation: r.Generation, Receipt: jsonOrNone(r.Receipt), Duplicate: r.Duplicate})
	}
	return out
}

func presentCalls(rows []store.ProviderCallRow) (out []views.CallRowProps) {
	for _, c := range rows {
		out = append(out, presentCall(c))
	}
	return out
}

func presentCall(c store.ProviderCallRow) views.CallRowProps {
	return views.CallRowProps{
		ID: strconv.FormatInt(c.ID, 10), At: c.At, Ended: c.EndedAt != nil, Duration: c.Duration(), Provider: c.Provider, Key: c.Key,
		Status: c.Status, Outcome: c.Outcome, Replayed: c.Replayed, Reference: c.Reference, Error: c.Error, Job: idOrNone(c.JobID), Attempt: c.Attempt,
	}
}

// maxContenders bounds the axis; of more the newest are shown.
const maxContenders = 12

// contender is a row of the axis while it is put together.
type contender struct {
	job     int64
	attempt int
	views.Contender
}

// contendersOf puts together who did, or might have done, the effect: the holders,
// and whoever brought a receipt or called the provider. An attempt ran as long as it
// gave a sign of life, also when it no longer held its job.
func contendersOf(e store.Effect, past []pastEntry, late []store.LateReceipt, calls []store.ProviderCallRow, spans []store.AttemptSpan) []views.Contender {
	var all []*contender
	find := func(job int64, attempt int, holder string, at time.Time) *contender {
		for _, c := range all {
			if c.job == job && c.attempt == attempt && (job != 0 || c.Holder == holder) {
				return c
			}
		}
		c := &contender{job: job, attempt: attempt}
		c.Job, c.Attempt, c.Holder, c.RunFrom = idOrNone(job), attempt, holder, at
		all = append(all, c)
		return c
	}
	held := func(job int64, attempt int, holder string, from time.Time, begun, to *time.Time) {
		c := find(job, attempt, holder, from)
		if c.HeldFrom == nil {
			c.HeldFrom = &from
		}
		c.HeldTo, c.BegunAt = to, cmp.Or(c.BegunAt, begun)
		if job == 0 {
			c.RunTo = to
		}
	}
	for _, h := range past {
		if h.Again == "" {
			held(h.Job, h.Attempt, h.Holder, h.ClaimedAt, h.BegunAt, &h.Until)
		}
	}
	taken := slices.ContainsFunc(past, func(h pastEntry) bool { return h.Again == "" && h.ClaimedAt.Equal(e.ClaimedAt) })
	if e.State != store.EffectReserved && !taken {
		to := e.SettledAt
		if e.State == store.EffectUnknown && e.DoubtAt != nil && e.DoubtAt.After(e.ClaimedAt) {
			to = e.DoubtAt
		}
		held(e.Holder.JobID, e.Holder.Attempt, e.Holder.Name, e.ClaimedAt, e.BegunAt, to)
		if e.State == store.EffectDone && e.SettledAt != nil && !markedByPerson(e) {
			c := find(e.Holder.JobID, e.Holder.Attempt, e.Holder.Name, e.ClaimedAt)
			c.Receipts = append(c.Receipts, *e.SettledAt)
		}
	}
	for _, r := range late {
		if c := find(r.JobID, r.Attempt, "", r.At); c.job != 0 || c.HeldFrom == nil {
			c.Receipts = append(c.Receipts, r.At)
		}
	}
	for _, r := range calls {
		if r.JobID != 0 {
			c := find(r.JobID, r.Attempt, "", r.At)
			c.Calls = append(c.Calls, views.CallSpan{From: r.At, To: r.EndedAt})
		}
	}
	for _, c := range all {
		c.ran(spans)
	}
	slices.SortStableFunc(all, func(a, b *contender) int { return a.RunFrom.Compare(b.RunFrom) })
	var out []views.Contender
	for _, c := range all[max(0, len(all)-maxContenders):] {
		out = append(out, c.Contender)
	}
	return out
}

// markedByPerson: the receipt is somebody's word, not a sign of life of the holder.
func markedByPerson(e store.Effect) bool {
	var receipt struct {
		By string `json:"marked_by"`
	}
	return json.Unmarshal(e.Receipt, &receipt) == nil && receipt.By != ""
}

// ran sets when the attempt ran, from its history and its signs of life.
func (c *contender) ran(spans []store.AttemptSpan) {
	known := false
	for _, s := range spans {
		if s.JobID != c.job || s.Attempt != c.attempt || c.job == 0 {
			continue
		}
		known = true
		c.RunFrom, c.RunTo = s.Start, s.End
		c.lives(s.Late)
	}
	if !known && c.RunTo == nil {
		end := c.RunFrom
		c.RunTo = &end // its job is gone: only its signs of life are left
		c.lives(c.HeldTo)
	}
	for _, at := range c.Receipts {
		c.lives(&at)
	}
	for _, call := range c.Calls {
		if call.From.Before(c.RunFrom) {
			c.RunFrom = call.From
		}
		c.lives(call.To)
	}
}

func (c *contender) lives(at *time.Time) {
	if at != nil && c.RunTo != nil && at.After(*c.RunTo) {
		end := *at
		c.RunTo = &end
	}
}
