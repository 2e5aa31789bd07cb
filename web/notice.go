package web

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/views/locale"
)

const noticeCookie = "tekrar_notice"

// notice is what an action did, kept for the page that follows its redirect. It
// holds no sentence, so that a planted cookie could only make us say our own.
type notice struct {
	Do    string `json:"d"`
	Card  string `json:"c,omitempty"` // of the demo page
	Done  int    `json:"n,omitempty"`
	Moved int    `json:"m,omitempty"` // left alone: not in the expected state
	Gone  int    `json:"g,omitempty"`
	Jobs  string `json:"j,omitempty"` // ids as ranges: "7-9,12"
}

func (r *request) leaveNotice(n notice) {
	data, err := json.Marshal(n)
	if err == nil {
		r.d.setCookie(r.Ctx, noticeCookie, base64.RawURLEncoding.EncodeToString(data), 60)
	}
}

// readNotice takes the notice away from the browser, so that it is said once.
func (r *request) readNotice() (n notice, ok bool) {
	text := r.Cookies(noticeCookie)
	if text == "" || r.Method() != fiber.MethodGet {
		return n, false
	}
	r.d.setCookie(r.Ctx, noticeCookie, "", -1)
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(data, &n) != nil {
		return notice{}, false
	}
	return n, true
}

func (r *request) takeNotice() *views.Notice {
	if r.route.path == "/demo" { // says it at the card
		return nil
	}
	n, ok := r.readNotice()
	if !ok {
		return nil
	}
	return n.words(r.locale())
}

// didWords are said of one job and of several.
var didWords = map[string]struct{ one, many string }{
	"once":    {locale.Sentence("1 job requeued."), locale.Sentence("%d jobs requeued.")},
	"fresh":   {locale.Sentence("1 job requeued with a fresh budget."), locale.Sentence("%d jobs requeued with a fresh budget.")},
	"delete":  {locale.Sentence("1 job deleted."), locale.Sentence("%d jobs deleted.")},
	"restore": {locale.Sentence("1 job restored."), locale.Sentence("%d jobs restored.")},
	"cancel":  {locale.Sentence("1 job asked to end."), locale.Sentence("%d jobs asked to end.")},
}

var recurringDid = map[string]string{
	"copy job":         locale.Sentence("Enqueued. This is the copy."),
	"mute":             locale.Sentence("Muted: the group is kept apart below."),
	"unmute":           locale.Sentence("The group is listed with the others again."),
	"run recurring":    locale.Sentence("1 job enqueued. The next fire stays where it is."),
	"pause recurring":  locale.Sentence("Paused: it fires no more until somebody resumes it."),
	"resume recurring": locale.Sentence("Resumed."),
	"remove recurring": locale.Sentence("Removed."),
	"save recurring":   locale.Sentence("Saved."),
	"save view":        locale.Sentence("Saved: it is listed above the states."),
	"remove view":      locale.Sentence("Removed from the saved views."),
}

func (n notice) words(in *locale.Locale) *views.Notice {
	if text, ok := recurringDid[n.Do]; ok {
		return &views.Notice{Text: in.Say(text), Jobs: expand(n.Jobs)}
	}
	if text, ok := claimDid[n.Do]; ok {
		return &views.Notice{Text: in.Say(text), Jobs: expand(n.Jobs)}
	}
	did, ok := didWords[n.Do]
	if !ok {
		return nil
	}
	if n.Done+n.Moved+n.Gone == 0 {
		return &views.Notice{Bad: true, Text: in.Say("No job was ticked, so nothing was changed.")}
	}
	text := in.Plural(int64(n.Done), did.one, did.many)
	if n.Moved > 0 {
		text += " " + in.Plural(int64(n.Moved), "1 job moved meanwhile and stayed as it is now.", "%d jobs moved meanwhile and stayed as it is now.")
	}
	if n.Gone > 0 {
		text += " " + in.Plural(int64(n.Gone), "1 job no longer there.", "%d jobs no longer there.")
	}
	ids := expand(n.Jobs)
	undo := n.Do == "delete" && len(ids) == n.Done && n.Done > 0 && n.Done <= maxTicked
	return &views.Notice{Bad: n.Moved+n.Gone > 0, Text: text, Jobs: ids, Undo: undo}
}

// maxRanges keeps a notice well below the 4 KB of a cookie.
const (
	maxRanges   = 60
	maxExpanded = 10_000
)

// ranges writes ids in ascending runs; what is beyond maxRanges is left out.
func ranges(ids []int64) string {
	var b strings.Builder
	for i, n := 0, 0; i < len(ids) && n < maxRanges; n++ {
		from := i
		for i++; i < len(ids) && ids[i] == ids[i-1]+1; i++ {
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(ids[from], 10))
		if i-from > 1 {
			b.WriteString("-" + strconv.FormatInt(ids[i-1], 10))
		}
	}
	return b.String()
}

func expand(text string) (ids []string) {
	for run := range strings.SplitSeq(text, ",") {
		first, last, isRun := strings.Cut(run, "-")
		from, ok1 := jobID(first)
		to, ok2 := jobID(last)
		if !isRun {
			to, ok2 = from, true
		}
		if !ok1 || !ok2 {
			return ids
		}
		for id := from; id <= to && len(ids) < maxExpanded; id++ {
			ids = append(ids, strconv.FormatInt(id, 10))
		}
	}
	return ids
}
