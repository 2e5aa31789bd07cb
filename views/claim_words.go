package views

import (
	"strconv"
	"strings"
	"time"

	"github.com/tekrar/tekrar/views/locale"
)

var claimTabs = []string{"unsettled", "unknown", "done", "released"}

// claimNames are the states of claims, and their tabs, as badges and sentences say them.
var claimNames = map[string]string{
	"unsettled": locale.Sentence("unsettled"), "unknown": locale.Sentence("unknown"), "done": locale.Sentence("done"), "released": locale.Sentence("released"),
	"claimed": locale.Sentence("claimed"), "begun": locale.Sentence("begun"), "failed": locale.Sentence("failed"), "reserved": locale.Sentence("reserved"),
}

func claimName(in *locale.Locale, state string) string {
	if name, ok := claimNames[state]; ok {
		return in.Say(name)
	}
	return state
}

// claimStanding is where a claim stands, as word, class and symbol.
type claimStanding struct{ word, class, icon string }

func (r ClaimRowProps) standing(in *locale.Locale) claimStanding {
	word := claimName(in, string(r.State))
	switch r.State {
	case Claimed, Begun:
		if r.Stale {
			return claimStanding{in.Say("%s, holder gone", word), "late", "warn"}
		}
		return claimStanding{word, "processing", "processing"}
	case Unknown:
		return claimStanding{word, "late", "late"}
	case ClaimDone:
		return claimStanding{word, "succeeded", "succeeded"}
	case ClaimFailed:
		return claimStanding{word, "failed", "failed"}
	case ClaimReserved:
		return claimStanding{word, "scheduled", "scheduled"}
	}
	return claimStanding{word, "deleted", "deleted"}
}

func (r ClaimRowProps) unsettled() bool {
	return r.State == Claimed || r.State == Begun || r.State == Unknown
}

// open: nobody who lives holds it, and it is not known whether the effect happened.
func (r ClaimRowProps) open() bool { return r.State == Unknown || r.unsettled() && r.Stale }

// decision is a button of a claim; its label is a sentence of the catalogue.
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
		out = append(out, decision{"reclaim", locale.Sentence("Reclaim…"), ""})
	}
	if r.open() {
		out = append(out, decision{"delivered", locale.Sentence("Mark delivered…"), ""}, decision{"not-delivered", locale.Sentence("Mark not delivered…"), ""})
	}
	if r.open() || r.State == ClaimDone || r.State == ClaimReleased || r.State == ClaimFailed {
		out = append(out, decision{"again", locale.Sentence("Send again…"), "danger"})
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
func lifeWords(in *locale.Locale, d time.Duration) string {
	text := in.Duration(d)
	for _, nothing := range []string{in.Say("%d s", 0), in.Say("%d min", 0), in.Say("%d h", 0)} {
		text = strings.TrimSuffix(text, " "+nothing)
	}
	return text
}

func holderWords(in *locale.Locale, job string, attempt int, holder string) string {
	if job == "" {
		if holder == "" {
			return in.Say("nobody")
		}
		return holder
	}
	return in.Say("job %s, attempt %d", job, attempt)
}

// duplicateWords count what was done too often.
func (r ClaimRowProps) duplicateWords(in *locale.Locale) string {
	switch {
	case r.Duplicates == 1:
		return in.Say("1 duplicate: a receipt that came late tells of a second effect.")
	case r.Duplicates > 1:
		return in.Say("%d duplicates: receipts that came late tell of %d effects more.", r.Duplicates, r.Duplicates)
	}
	return ""
}

var confirmClaimWords = map[string]struct{ heading, button, class string }{
	"reclaim":       {locale.Sentence("Reclaim: %s?"), locale.Sentence("Reclaim it"), "primary"},
	"delivered":     {locale.Sentence("Mark as delivered: %s?"), locale.Sentence("It was delivered"), "primary"},
	"not-delivered": {locale.Sentence("Mark as not delivered: %s?"), locale.Sentence("It was not delivered"), "primary"},
	"again":         {locale.Sentence("Send again: %s?"), locale.Sentence("Send it again"), "danger solid"},
}

// effectOf says what a decision does, in the words of the page that asks for it.
func (p ClaimConfirmProps) effectOf(in *locale.Locale) []string {
	job := in.Say("No job is requeued by this.")
	if p.Job != "" {
		job = in.Say("Job %s is not requeued by this.", p.Job)
	}
	switch p.Do {
	case "reclaim":
		gone := in.Say("Its holder, %s, is gone; the claim is taken from it.", holderWords(in, p.Job, p.Attempt, clip(p.Holder, 80)))
		then := in.Say("Nothing had begun, so the key becomes free: the next attempt may do the effect.")
		if p.State == Begun || p.DoubtAt != nil {
			then = in.Say("The effect had begun, so the claim becomes unknown: what is left to decide is whether it was delivered.")
		}
		return []string{gone + " " + then, in.Say("Of several people who press this one wins; the others are told that they lost.") + " " + job}
	case "delivered":
		return []string{in.Say("The claim becomes done: whoever asks for this key is told that the effect has happened, and nothing is sent any more."), job}
	case "not-delivered":
		return []string{in.Say("The key becomes free: the next attempt sends, under the same provider key as before. If it was delivered after all, and the provider has forgotten the key, there will be two."), job}
	}
	return []string{in.Say("A second effect on purpose: the claim starts generation %d with the provider key %s, which is a new operation for the provider.", p.Generation+1, clip(p.nextProviderKey(), 300)),
		in.Say("If the one before was delivered, there will be two.") + " " + job}
}
