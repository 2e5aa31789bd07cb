package views

import (
	"slices"
	"strings"

	"github.com/tekrar/tekrar/views/locale"
)

var copyLabels = []fieldLabel{{"args", locale.Sentence("Args")}, {"queue", locale.Sentence("Queue")}, {"delay", locale.Sentence("Delay")}}

// wrong lists the labels of the fields that need a change.
func (f CopyFormProps) wrong(in *locale.Locale) (labels []string) {
	for _, l := range copyLabels {
		if f.Errors[l.name] != "" {
			labels = append(labels, in.Say(l.label))
		}
	}
	return labels
}

func keptWords(in *locale.Locale, f CopyFormProps) string {
	if f.Kept == "large" {
		return in.Say("These args are too large for a form, so they cannot be edited here. The copy gets them as they are stored.")
	}
	return in.Say("Some values of these args are hidden from you, so they cannot be edited here: what you do not see you cannot check. The copy gets them as they are stored, hidden values included.")
}

// stillRuns says that the original has not done its work yet.
func stillRuns(s State) bool {
	return slices.Contains([]State{Enqueued, Scheduled, Awaiting, Processing}, s)
}

// effect is what the copy does about one claim of the original; warn says that an
// effect may happen twice, or not at all.
func (c CopyClaim) effect(in *locale.Locale, edited bool) (text string, warn bool) {
	switch c.Fate {
	case KeyChanges:
		was := in.Say("This claim is %s; the copy does not find it and does the effect under a key of its own.", in.Say(string(c.State)))
		if c.State == ClaimDone {
			was = in.Say("The effect is done under this key, which does not hold the copy back: it does its effect under another one.")
		}
		changed := clip(strings.Join(c.Changed, ", "), 200)
		return in.Say("The idempotency key would change: it holds %s, which you edited.", changed) + " " + was, true
	case KeyUnclear:
		return in.Say("None of the args occurs in this key, so it cannot be told from here whether the copy makes the same one. If it makes another, the effect happens again."), true
	}
	switch c.State {
	case ClaimDone:
		text = in.Say("The key stays the same and its effect is done: the copy does not do it again.")
		if edited && c.Content {
			return text + " " + in.Say("It compares its content: if your edit changes that, the copy fails with “key reused with other content”."), true
		}
		return text, false
	case Unknown:
		return in.Say("The key stays the same, and nobody knows whether its effect happened: the copy is held until somebody decides."), true
	case Claimed, Begun:
		if !c.Stale {
			return in.Say("The key stays the same, and its effect is on the way: the copy waits for it."), false
		}
		if c.State == Begun {
			return in.Say("The key stays the same, and its holder is gone after it began: the copy takes it over or is held, as its policy says."), true
		}
		return in.Say("The key stays the same, and its holder is gone before it began: the copy takes it over."), false
	}
	return in.Say("The key stays the same, and its effect did not happen: the copy does it."), false
}

// noClaimWords tells of a job without a claim what a copy does again.
func (p CopyConfirmProps) noClaimWords(in *locale.Locale) (text string, warn bool) {
	if p.Attempt == 0 {
		return in.Say("This job has not run yet, so it has claimed no effect."), false
	}
	return in.Plural(int64(p.Attempt),
		"This job has claimed no effect, so no idempotency key guards what it does. Whatever its 1 attempt did, the copy does again.",
		"This job has claimed no effect, so no idempotency key guards what it does. Whatever its %d attempts did, the copy does again."), true
}

func (d DiffLine) sign() string {
	if d.Mark == '…' {
		return ""
	}
	return string(d.Mark) + " "
}

func copyStart(in *locale.Locale, p CopyConfirmProps) string {
	if p.Wait <= 0 {
		return in.Say("starts as soon as a worker is free")
	}
	return in.Say("starts in %s from the press", in.Duration(p.Wait))
}
