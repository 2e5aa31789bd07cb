package views

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

var claimTabs = []string{"unsettled", "unknown", "done", "released"}

// claimStanding is where a claim stands, as word, class and symbol.
type claimStanding struct{ word, class, icon string }

func (r ClaimRowProps) standing() claimStanding {
	switch r.State {
	case Claimed, Begun:
		if r.Stale {
			return claimStanding{string(r.State) + ", holder gone", "late", "warn"}
		}
		return claimStanding{string(r.State), "processing", "processing"}
	case Unknown:
		return claimStanding{"unknown", "late", "late"}
	case ClaimDone:
		return claimStanding{"done", "succeeded", "succeeded"}
	case ClaimFailed:
		return claimStanding{"failed", "failed", "failed"}
	case ClaimReserved:
		return claimStanding{"reserved", "scheduled", "scheduled"}
	}
	return claimStanding{string(r.State), "deleted", "deleted"}
}

func (r ClaimRowProps) unsettled() bool {
	return r.State == Claimed || r.State == Begun || r.State == Unknown
}

// open: nobody who lives holds it, and it is not known whether the effect happened.
func (r ClaimRowProps) open() bool { return r.State == Unknown || r.unsettled() && r.Stale }

// decision is a button of a claim.
type decision struct{ do, label, class string }

// CanDecide says whether a decision can be made on the claim as it stands.
func (r ClaimRowProps) CanDecide(do string) bool {
	for _, d := range r.decisions() {
		if d.do == do {
			return true
		}
	}
	return false
}

// decisions are those that the state allows; sending again stands apart.
func (r ClaimRowProps) decisions() (out []decision) {
	if r.unsettled() && r.Stale && r.State != Unknown {
		out = append(out, decision{"reclaim", "Reclaim…", ""})
	}
	if r.open() {
		out = append(out, decision{"delivered", "Mark delivered…", ""}, decision{"not-delivered", "Mark not delivered…", ""})
	}
	if r.open() || r.State == ClaimDone || r.State == ClaimReleased || r.State == ClaimFailed {
		out = append(out, decision{"again", "Send again…", "danger"})
	}
	return out
}

// nextProviderKey is what the next sending again would use.
func (r ClaimRowProps) nextProviderKey() string { return r.Key + "~g" + strconv.Itoa(r.Generation+1) }

// keyEnds is when the provider forgets the key; nil when it does not, or the time
// has not begun.
func (r ClaimRowProps) keyEnds() *time.Time {
	if r.KeyLife == 0 || r.EffectAt == nil {
		return nil
	}
	end := r.EffectAt.Add(r.KeyLife)
	return &end
}

// lifeWords is a length of time that somebody set, without a second unit of nothing.
func lifeWords(d time.Duration) string {
	text := duration(d)
	for _, nothing := range []string{" 0 s", " 0 min", " 0 h"} {
		text = strings.TrimSuffix(text, nothing)
	}
	return text
}

func holderWords(job string, attempt int, holder string) string {
	if job == "" {
		if holder == "" {
			return "nobody"
		}
		return holder
	}
	return fmt.Sprintf("job %s, attempt %d", job, attempt)
}

// duplicateWords count what was done too often.
func (r ClaimRowProps) duplicateWords() string {
	switch {
	case r.Duplicates == 1:
		return "1 duplicate: a receipt that came late tells of a second effect."
	case r.Duplicates > 1:
		return fmt.Sprintf("%d duplicates: receipts that came late tell of %d effects more.", r.Duplicates, r.Duplicates)
	}
	return ""
}

var confirmClaimWords = map[string]struct{ heading, button, class string }{
	"reclaim":       {"Reclaim", "Reclaim it", "primary"},
	"delivered":     {"Mark as delivered", "It was delivered", "primary"},
	"not-delivered": {"Mark as not delivered", "It was not delivered", "primary"},
	"again":         {"Send again", "Send it again", "danger solid"},
}

// effectOf says what a decision does, in the words of the page that asks for it.
func (p ClaimConfirmProps) effectOf() []string {
	job := "No job is requeued by this."
	if p.Job != "" {
		job = "Job " + p.Job + " is not requeued by this."
	}
	switch p.Do {
	case "reclaim":
		then := "Nothing had begun, so the key becomes free: the next attempt may do the effect."
		if p.State == Begun || p.DoubtAt != nil {
			then = "The effect had begun, so the claim becomes unknown: what is left to decide is whether it was delivered."
		}
		return []string{"Its holder, " + holderWords(p.Job, p.Attempt, clip(p.Holder, 80)) + ", is gone; the claim is taken from it. " + then,
			"Of several people who press this one wins; the others are told that they lost. " + job}
	case "delivered":
		return []string{"The claim becomes done: whoever asks for this key is told that the effect has happened, and nothing is sent any more.", job}
	case "not-delivered":
		return []string{"The key becomes free: the next attempt sends, under the same provider key as before. If it was delivered after all, and the provider has forgotten the key, there will be two.", job}
	}
	return []string{fmt.Sprintf("A second effect on purpose: the claim starts generation %d with the provider key %s, which is a new operation for the provider.", p.Generation+1, clip(p.nextProviderKey(), 300)),
		"If the one before was delivered, there will be two. " + job}
}

// event is one line of a claim's story.
type event struct {
	at              time.Time
	class, icon     string
	title           string
	job             string // linked
	attempt         int
	text, quietText string
	receipt, id     string
}

// story is what happened to the claim, oldest first.
func (p ClaimProps) story() (out []event) {
	add := func(e event) { e.id = "ev-" + strconv.Itoa(len(out)); out = append(out, e) }
	for i, h := range p.Past {
		if h.Again != "" {
			e := event{class: "retrying", icon: "retrying", title: "To be sent again, by " + clip(h.Again, 60), quietText: fmt.Sprintf("generation %d ends here", h.Generation), receipt: h.AgainProof}
			if i > 0 {
				e.at = p.Past[i-1].Until
			}
			add(e)
			continue
		}
		add(event{at: h.ClaimedAt, class: "enqueued", icon: "enqueued", title: "Claimed", job: h.Job, attempt: h.Attempt, quietText: clip(h.Holder, 80)})
		if h.BegunAt != nil {
			add(event{at: *h.BegunAt, class: "processing", icon: "processing", title: "Begun: from here on the effect may have happened", job: h.Job, attempt: h.Attempt})
		}
		add(event{at: h.Until, class: "late", icon: "late", title: "Left by its holder as " + string(h.State), job: h.Job, attempt: h.Attempt})
	}
	if p.State != ClaimReserved && !p.lastIsPast() {
		add(event{at: p.ClaimedAt, class: "enqueued", icon: "enqueued", title: "Claimed", job: p.Job, attempt: p.Attempt, quietText: clip(p.Holder, 80)})
		if p.BegunAt != nil {
			add(event{at: *p.BegunAt, class: "processing", icon: "processing", title: "Begun: from here on the effect may have happened", job: p.Job, attempt: p.Attempt})
		}
	}
	switch {
	case p.State == Unknown && p.DoubtAt != nil:
		add(event{at: *p.DoubtAt, class: "late", icon: "late", title: "Unknown since then: nobody can say whether the effect happened", text: p.Reason})
	case p.SettledAt != nil && p.State == ClaimDone:
		add(event{at: *p.SettledAt, class: "succeeded", icon: "succeeded", title: "Done", text: p.Reason, receipt: p.Receipt})
	case p.SettledAt != nil:
		add(event{at: *p.SettledAt, class: "deleted", icon: "deleted", title: "Ended as " + string(p.State) + ": the effect did not happen", text: p.Reason})
	case p.State == ClaimReserved:
		add(event{at: p.ClaimedAt, class: "scheduled", icon: "scheduled", title: "Reserved together with the business row; nobody has claimed it yet"})
	}
	for _, r := range p.Late {
		e := event{at: r.At, class: "late", icon: "late", title: "A receipt came late: it tells of the same effect", job: r.Job, attempt: r.Attempt, receipt: r.Receipt}
		if r.Duplicate {
			e.title, e.class, e.icon = "A receipt came late: a duplicate, it tells of another effect", "failed", "bad"
		}
		if r.Generation != p.Generation {
			e.quietText = fmt.Sprintf("of generation %d", r.Generation)
		}
		add(e)
	}
	slices.SortStableFunc(out, func(a, b event) int { return a.at.Compare(b.at) })
	return out
}

// lastIsPast: a claim that was freed on purpose keeps its last holder both as the
// present one and among the past.
func (p ClaimProps) lastIsPast() bool {
	for _, h := range p.Past {
		if h.Again == "" && h.ClaimedAt.Equal(p.ClaimedAt) {
			return true
		}
	}
	return false
}
