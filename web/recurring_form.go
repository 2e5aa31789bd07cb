package web

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/schedule"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/views/locale"
	"github.com/tekrar/tekrar/web/redact"
)

// maxFormArgs is the largest args in bytes that a form shows for editing.
const maxFormArgs = 64 << 10

// presentForm fills the form with what is stored.
func (d *Dashboard) presentForm(r store.RecurringRow) views.RecurringFormProps {
	f := views.RecurringFormProps{
		ID: r.ID, Kind: r.Kind, Queue: r.Queue, Spec: r.Spec, Zone: r.Zone, Misfire: r.Misfire, Overlap: r.Overlap,
		Start: writeInstant(r.StartAt, r.Zone), End: writeInstant(r.EndAt, r.Zone), Seen: version(r),
		Paused: r.PausedAt != nil, WasPaused: r.PausedAt != nil, Removed: r.RemovedAt != nil, Declared: r.Declared,
	}
	var args bytes.Buffer
	if err := json.Indent(&args, d.o.Redact.JSON(r.Args), "", "  "); err == nil {
		f.Args = args.String()
	}
	if f.ArgsKept = len(f.Args) > maxFormArgs; f.ArgsKept {
		f.Args = ""
	}
	return f
}

// version names what is stored, so that an edit of what somebody else changed
// meanwhile is noticed.
func version(r store.RecurringRow) string { return strconv.FormatInt(r.UpdatedAt.UnixMicro(), 10) }

// typedForm reads a form as it was typed. What cannot be stored is said at its
// field; the rest stays as it is.
func (r *request) typedForm() views.RecurringFormProps {
	f := views.RecurringFormProps{Errors: map[string]string{}}
	read := func(name string, limit int) string { return r.typed(f.Errors, name, limit) }
	for name, field := range map[string]*string{
		"id": &f.ID, "kind": &f.Kind, "queue": &f.Queue, "spec": &f.Spec, "zone": &f.Zone, "misfire": &f.Misfire, "overlap": &f.Overlap,
		"start": &f.Start, "end": &f.End, "seen": &f.Seen,
	} {
		*field = read(name, maxText)
	}
	if f.New = read("new", 1) != ""; f.New { // blanks around a new name are slips
		f.ID, f.Kind, f.Queue = strings.TrimSpace(f.ID), strings.TrimSpace(f.Kind), strings.TrimSpace(f.Queue)
	}
	f.Args = read("args", maxFormArgs)
	f.ArgsKept = !r.Request().PostArgs().Has("args")
	f.Paused, f.WasPaused = read("paused", 1) != "", read("was_paused", 1) != ""
	return f
}

// typed reads a field as it was typed; what cannot be stored is said in errs.
func (r *request) typed(errs map[string]string, name string, limit int) string {
	text := string(r.Request().PostArgs().Peek(name))
	switch {
	case len(text) > limit:
		errs[name] = r.locale().Say("has %d bytes; the limit is %d", len(text), limit)
	case !utf8.ValidString(text):
		errs[name] = r.locale().Say("is not valid UTF-8")
	case strings.ContainsRune(text, 0):
		errs[name] = r.locale().Say("contains a NUL character")
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// recurringSpec builds what the form says, on top of what is stored: what it has no
// field for stays. What is typed wrongly is added to the form's errors.
func (d *Dashboard) recurringSpec(in *locale.Locale, f *views.RecurringFormProps, old *store.RecurringRow) jobs.RecurringSpec {
	s := jobs.RecurringSpec{ID: f.ID, Kind: f.Kind, Queue: f.Queue, Spec: f.Spec, Zone: strings.TrimSpace(f.Zone), Args: json.RawMessage(f.Args), Paused: f.Paused}
	if strings.TrimSpace(f.Args) == "" {
		s.Args = nil
	}
	if old != nil {
		s.Kind, s.Priority = old.Kind, old.Priority
		if s.Args = d.typedArgs(in, f, s.Args, old.Args); f.ArgsKept {
			s.Args = old.Args
		}
		if old.TimeoutMS != nil {
			s.Timeout = time.Duration(*old.TimeoutMS) * time.Millisecond
		}
		s.Retry = storedRetry(in, f, old)
	}
	var err error
	if s.Misfire, err = schedule.ParseMisfire(f.Misfire); err != nil {
		f.Errors["misfire"] = in.Say("%s is none of run_once, run_all and skip", shorten(f.Misfire))
	}
	if s.Overlap, err = jobs.ParseOverlap(f.Overlap); err != nil {
		f.Errors["overlap"] = in.Say("%s is none of allow, skip and queue_one", shorten(f.Overlap))
	}
	at, _ := zoneOf(s.Zone)
	s.Start, s.End = typedInstant(in, f, "start", f.Start, at), typedInstant(in, f, "end", f.End, at)
	return s
}

// typedArgs puts what the form hid back in its place, so that saving it as it came
// changes nothing.
func (d *Dashboard) typedArgs(in *locale.Locale, f *views.RecurringFormProps, typed, stored json.RawMessage) json.RawMessage {
	args, lost := d.o.Redact.Restore(typed, stored)
	if len(lost) > 0 {
		f.Errors["args"] = in.Say("says %s at %s, which stands for a hidden value, and none is stored there: type it", redact.Hidden, strings.Join(lost, ", "))
	}
	return args
}

func storedRetry(in *locale.Locale, f *views.RecurringFormProps, old *store.RecurringRow) *jobs.RetryPolicy {
	if len(old.Policy) == 0 {
		return nil
	}
	published, err := jobs.ParsePolicy(old.Policy)
	if err == nil {
		var p jobs.RetryPolicy
		if p, err = published.RetryPolicy(); err == nil {
			return &p
		}
	}
	f.Errors[""] = in.Say("The stored retry policy cannot be read, and saving would lose it.")
	return nil
}
