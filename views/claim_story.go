package views

import (
	"slices"
	"strconv"
	"time"

	"github.com/tekrar/tekrar/views/locale"
)

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
func (p ClaimProps) story(in *locale.Locale) (out []event) {
	add := func(e event) { e.id = "ev-" + strconv.Itoa(len(out)); out = append(out, e) }
	for i, h := range p.Past {
		if h.Again != "" {
			e := event{class: "retrying", icon: "retrying", title: in.Say("To be sent again, by %s", clip(h.Again, 60)), quietText: in.Say("generation %d ends here", h.Generation), receipt: h.AgainProof}
			if i > 0 {
				e.at = p.Past[i-1].Until
			}
			add(e)
			continue
		}
		add(event{at: h.ClaimedAt, class: "enqueued", icon: "enqueued", title: in.Say("Claimed"), job: h.Job, attempt: h.Attempt, quietText: clip(h.Holder, 80)})
		if h.BegunAt != nil {
			add(event{at: *h.BegunAt, class: "processing", icon: "processing", title: in.Say("Begun: from here on the effect may have happened"), job: h.Job, attempt: h.Attempt})
		}
		add(event{at: h.Until, class: "late", icon: "late", title: in.Say("Left by its holder as %s", claimName(in, string(h.State))), job: h.Job, attempt: h.Attempt})
	}
	if p.State != ClaimReserved && !p.lastIsPast() {
		add(event{at: p.ClaimedAt, class: "enqueued", icon: "enqueued", title: in.Say("Claimed"), job: p.Job, attempt: p.Attempt, quietText: clip(p.Holder, 80)})
		if p.BegunAt != nil {
			add(event{at: *p.BegunAt, class: "processing", icon: "processing", title: in.Say("Begun: from here on the effect may have happened"), job: p.Job, attempt: p.Attempt})
		}
	}
	switch {
	case p.State == Unknown && p.DoubtAt != nil:
		add(event{at: *p.DoubtAt, class: "late", icon: "late", title: in.Say("Unknown since then: nobody can say whether the effect happened"), text: p.Reason})
	case p.SettledAt != nil && p.State == ClaimDone:
		add(event{at: *p.SettledAt, class: "succeeded", icon: "succeeded", title: in.Say("Done"), text: p.Reason, receipt: p.Receipt})
	case p.SettledAt != nil:
		add(event{at: *p.SettledAt, class: "deleted", icon: "deleted", title: in.Say("Ended as %s: the effect did not happen", claimName(in, string(p.State))), text: p.Reason})
	case p.State == ClaimReserved:
		add(event{at: p.ClaimedAt, class: "scheduled", icon: "scheduled", title: in.Say("Reserved together with the business row; nobody has claimed it yet")})
	}
	for _, r := range p.Late {
		e := event{at: r.At, class: "late", icon: "late", title: in.Say("A receipt came late: it tells of the same effect"), job: r.Job, attempt: r.Attempt, receipt: r.Receipt}
		if r.Duplicate {
			e.title, e.class, e.icon = in.Say("A receipt came late: a duplicate, it tells of another effect"), "failed", "bad"
		}
		if r.Generation != p.Generation {
			e.quietText = in.Say("of generation %d", r.Generation)
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
