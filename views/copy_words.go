package views

import (
	"fmt"
	"slices"
	"strings"
)

var copyLabels = []fieldLabel{{"args", "Args"}, {"queue", "Queue"}, {"delay", "Delay"}}

// wrong lists the labels of the fields that need a change.
func (f CopyFormProps) wrong() (labels []string) {
	for _, l := range copyLabels {
		if f.Errors[l.name] != "" {
			labels = append(labels, l.label)
		}
	}
	return labels
}

func keptWords(f CopyFormProps) string {
	if f.Kept == "large" {
		return "These args are too large for a form, so they cannot be edited here. The copy gets them as they are stored."
	}
	return "Some values of these args are hidden from you, so they cannot be edited here: what you do not see you cannot check. The copy gets them as they are stored, hidden values included."
}

// stillRuns says that the original has not done its work yet.
func stillRuns(s State) bool {
	return slices.Contains([]State{Enqueued, Scheduled, Awaiting, Processing}, s)
}

// effect is what the copy does about one claim of the original; warn says that an
// effect may happen twice, or not at all.
func (c CopyClaim) effect(edited bool) (text string, warn bool) {
	switch c.Fate {
	case KeyChanges:
		was := "This claim is " + string(c.State) + "; the copy does not find it and does the effect under a key of its own."
		if c.State == ClaimDone {
			was = "The effect is done under this key, which does not hold the copy back: it does its effect under another one."
		}
		return fmt.Sprintf("The idempotency key would change: it holds %s, which you edited. %s", clip(strings.Join(c.Changed, ", "), 200), was), true
	case KeyUnclear:
		return "None of the args occurs in this key, so it cannot be told from here whether the copy makes the same one. If it makes another, the effect happens again.", true
	}
	switch c.State {
	case ClaimDone:
		text = "The key stays the same and its effect is done: the copy does not do it again."
		if edited && c.Content {
			return text + " It compares its content: if your edit changes that, the copy fails with “key reused with other content”.", true
		}
		return text, false
	case Unknown:
		return "The key stays the same, and nobody knows whether its effect happened: the copy is held until somebody decides.", true
	case Claimed, Begun:
		if !c.Stale {
			return "The key stays the same, and its effect is on the way: the copy waits for it.", false
		}
		if c.State == Begun {
			return "The key stays the same, and its holder is gone after it began: the copy takes it over or is held, as its policy says.", true
		}
		return "The key stays the same, and its holder is gone before it began: the copy takes it over.", false
	}
	return "The key stays the same, and its effect did not happen: the copy does it.", false
}

// noClaimWords tells of a job without a claim what a copy does again.
func (p CopyConfirmProps) noClaimWords() (text string, warn bool) {
	if p.Attempt == 0 {
		return "This job has not run yet, so it has claimed no effect.", false
	}
	return fmt.Sprintf("This job has claimed no effect, so no idempotency key guards what it does. Whatever its %s did, the copy does again.", plural(int64(p.Attempt), "attempt")), true
}

func (d DiffLine) sign() string {
	if d.Mark == '…' {
		return ""
	}
	return string(d.Mark) + " "
}

func copyStart(p CopyConfirmProps) string {
	if p.Wait <= 0 {
		return "as soon as a worker is free"
	}
	return "in " + duration(p.Wait) + " from the press"
}
