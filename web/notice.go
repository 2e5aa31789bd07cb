package web

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/views"
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
	return n.words()
}

var didWords = map[string]string{
	"once": "requeued", "fresh": "requeued with a fresh budget", "delete": "deleted", "restore": "restored", "cancel": "asked to end",
}

var recurringDid = map[string]string{
	"copy job": "Enqueued. This is the copy.",
	"mute":     "Muted: the group is kept apart below.", "unmute": "The group is listed with the others again.",
	"run recurring": "1 job enqueued. The next fire stays where it is.", "pause recurring": "Paused: it fires no more until somebody resumes it.",
	"resume recurring": "Resumed.", "remove recurring": "Removed.", "save recurring": "Saved.",
	"save view": "Saved: it is listed above the states.", "remove view": "Removed from the saved views.",
}

func (n notice) words() *views.Notice {
	if text, ok := recurringDid[n.Do]; ok {
		return &views.Notice{Text: text, Jobs: expand(n.Jobs)}
	}
	if text, ok := claimDid[n.Do]; ok {
		return &views.Notice{Text: text, Jobs: expand(n.Jobs)}
	}
	did, ok := didWords[n.Do]
	if !ok {
		return nil
	}
	if n.Done+n.Moved+n.Gone == 0 {
		return &views.Notice{Bad: true, Text: "No job was ticked, so nothing was changed."}
	}
	text := fmt.Sprintf("%s %s.", countJobs(n.Done), did)
	if n.Moved > 0 {
		text += fmt.Sprintf(" %s moved meanwhile and stayed as it is now.", countJobs(n.Moved))
	}
	if n.Gone > 0 {
		text += fmt.Sprintf(" %s no longer there.", countJobs(n.Gone))
	}
	ids := expand(n.Jobs)
	undo := n.Do == "delete" && len(ids) == n.Done && n.Done > 0 && n.Done <= maxTicked
	return &views.Notice{Bad: n.Moved+n.Gone > 0, Text: text, Jobs: ids, Undo: undo}
}

func countJobs(n int) string {
	if n == 1 {
		return "1 job"
	}
	return strconv.Itoa(n) + " jobs"
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
