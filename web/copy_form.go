package web

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/views/locale"
	"github.com/tekrar/tekrar/web/redact"
)

// maxCopyDelay bounds the delay of a form; programs can schedule further ahead.
const maxCopyDelay = 30 * 24 * time.Hour

// typedCopy is a form as it was typed, what it asks for, and what its page says.
type typedCopy struct {
	views.CopyConfirmProps
	ask jobs.Copy
}

// copyForm fills the form with the original. Hidden values are no text to edit: what
// goes through a browser as a mask would come back as one, and with the fields around
// it edited, a secret could be sent where nobody meant it to go.
func (d *Dashboard) copyForm(of store.Original) views.CopyFormProps {
	f := views.CopyFormProps{ID: itoa(of.ID), Kind: of.Kind, Queue: of.Queue, State: views.State(of.State.String()), Attempt: of.Attempt}
	shown := d.o.Redact.JSON(of.Args)
	var args bytes.Buffer
	if err := json.Indent(&args, shown, "", "  "); err != nil {
		args.Reset()
		args.Write(shown)
	}
	switch {
	case !bytes.Equal(shown, of.Args):
		f.Kept, f.Shown = "hidden", string(shown)
	case args.Len() > maxFormArgs:
		f.Kept, f.Shown = "large", string(shown)
	default:
		f.Args = args.String()
	}
	return f
}

// typedCopy reads a form as it was typed, and what is wrong with it.
func (r *request) typedCopy(of store.Original) typedCopy {
	errs := map[string]string{}
	t := typedCopy{CopyConfirmProps: views.CopyConfirmProps{CopyFormProps: r.d.copyForm(of), OldQueue: of.Queue}, ask: jobs.Copy{Of: jobs.Target{ID: of.ID}}}
	t.Queue, t.Delay = strings.TrimSpace(r.typed(errs, "queue", maxText)), strings.TrimSpace(r.typed(errs, "delay", maxText))
	if t.Queue == "" {
		t.Queue = of.Queue
	}
	t.ask.Queue = t.Queue
	if wait, problem := parseDelay(r.locale(), t.Delay); problem != "" && errs["delay"] == "" {
		errs["delay"] = problem
	} else {
		t.ask.In, t.Wait = wait, wait
	}
	switch {
	case t.Kept != "" && r.Request().PostArgs().Has("args"):
		errs[""] = r.locale().Say("These args cannot be edited here; their copy is an unedited one.")
	case t.Kept == "":
		t.Args = r.typed(errs, "args", maxFormArgs)
		t.ask.Args = json.RawMessage(t.Args)
		if _, masks := r.d.o.Redact.Restore(t.ask.Args, nil); len(masks) > 0 && errs["args"] == "" {
			errs["args"] = r.locale().Say("says %s at %s, which stands for a hidden value: type that", redact.Hidden, strings.Join(masks, ", "))
		}
	}
	for field, ask := range map[string]jobs.Copy{"args": {Args: t.ask.Args}, "queue": {Queue: t.Queue}} {
		if err := r.d.client.CheckCopy(of, ask); err != nil && errs[field] == "" && errs[""] == "" {
			addInputErrors(r.locale(), errs, err)
		}
	}
	if len(errs) > 0 {
		t.Errors = errs
		return t
	}
	if t.ask.Args != nil {
		t.Diff, t.Edited = diffArgs(r.locale(), of.Args, t.ask.Args)
	}
	return t
}

// refuse puts what the enqueue refused to its field.
func (t *typedCopy) refuse(in *locale.Locale, err error) {
	t.Errors = map[string]string{}
	addInputErrors(in, t.Errors, err)
}

// parseDelay reads a delay, or says what is wrong with it.
func parseDelay(in *locale.Locale, text string) (d time.Duration, problem string) {
	if text == "" {
		return 0, ""
	}
	outside := func() string {
		return in.Say("%s is outside of 0 to %d hours", shorten(text), int(maxCopyDelay.Hours()))
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if !(seconds >= 0 && seconds <= maxCopyDelay.Seconds()) {
			return 0, outside()
		}
		return time.Duration(seconds * float64(time.Second)), ""
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, in.Say("%s is no delay such as 90, 15m or 24h", shorten(text))
	case d < 0 || d > maxCopyDelay:
		return 0, outside()
	}
	return d, ""
}

func itoa(id int64) string { return strconv.FormatInt(id, 10) }

// presentCopyClaim judges whether the copy makes the key of a claim again.
func presentCopyClaim(e store.Effect, args, edited json.RawMessage, changed bool) views.CopyClaim {
	c := views.CopyClaim{Key: e.Key, State: views.ClaimState(e.State.String()), Stale: e.Stale, Content: e.Fingerprint != "", Fate: views.KeyStays}
	if !changed {
		return c
	}
	fate, paths := idempotency.Foresee(e.Key, args, edited)
	c.Changed = paths
	switch fate {
	case idempotency.KeyUnclear:
		c.Fate = views.KeyUnclear
	case idempotency.KeyChanges:
		c.Fate = views.KeyChanges
	}
	return c
}
