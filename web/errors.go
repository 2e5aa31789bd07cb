package web

import (
	"cmp"
	"crypto/rand"
	"errors"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/views/locale"
)

// refusal is an answer in words that are meant for the browser.
type refusal struct {
	status   int
	sentence string // a key of the catalogue, with args in the places of its verbs
	args     []any
}

func refuse(status int, sentence string, args ...any) refusal {
	return refusal{status, sentence, args}
}

// Error is the sentence in English, as programs and logs get it.
func (e refusal) Error() string { return e.in(nil) }

func (e refusal) in(reader *locale.Locale) string { return reader.Say(e.sentence, e.args...) }

// badInput refuses what a person typed or a link says; it names field and limit.
func badInput(format string, args ...any) error {
	return refuse(fiber.StatusBadRequest, format, args...)
}

// refusalOf is what an error says to a person, if it is meant for one.
func refusalOf(err error) (said refusal, ok bool) {
	var input *jobs.InputError
	switch {
	case errors.As(err, &said):
		return said, true
	case errors.As(err, &input):
		return refuse(fiber.StatusBadRequest, "Field %s: %s.", input.Field, input), true
	}
	return said, false
}

// fail is the one place where an error becomes a status and a page. What is not
// listed is internal: logged in full with an id, of which the browser sees the id.
func (r *request) fail(err error) error {
	var stated problem
	said, ok := refusalOf(err)
	switch {
	case errors.As(err, &stated):
		said = stated.refusal
	case ok:
	case errors.Is(err, store.ErrNotFound):
		said = refuse(fiber.StatusNotFound, "")
	case errors.Is(err, store.ErrBadCursor):
		said = refuse(fiber.StatusBadRequest, "Field after: is not a page of this list. Start again from its first page.")
	case store.IsReadOnly(err):
		said = errReadOnly
	case tooSlow(err):
		said = refuse(fiber.StatusServiceUnavailable, "The database did not answer within two seconds. Nothing was changed; try again in a moment.")
	case errors.Is(err, store.ErrUnknownOutcome):
		said = refuse(fiber.StatusServiceUnavailable, "The database went away while it was asked to save this, so it may or may not be done. Look before you try again.")
	case store.IsRetryable(err):
		said = refuse(fiber.StatusServiceUnavailable, "The database cannot be reached now: it restarts, or another server takes its place. Try again in a moment.")
	default:
		id := rand.Text()[:12]
		r.d.log.Error("dashboard: request failed", "id", id, "method", keep(r.Method()), "path", keep(r.Path()), "error", err)
		said = refuse(fiber.StatusInternalServerError, "Something went wrong here. It was logged under the id %s.", id)
	}
	if said.status == fiber.StatusUnauthorized && r.d.o.Access.basic {
		r.Set(fiber.HeaderWWWAuthenticate, `Basic realm="Tekrar", charset="UTF-8"`)
	}
	if r.route.api {
		return r.problem(said, err)
	}
	return r.message(views.MessageProps{Status: said.status, Title: r.locale().Say(titles[said.status]), Sentence: said.in(r.locale())})
}

// titles are the headings of statuses whose own heading in views says less.
var titles = map[int]string{
	fiber.StatusUnauthorized:     locale.Sentence("Sign in first"),
	fiber.StatusForbidden:        locale.Sentence("This was refused"),
	fiber.StatusMethodNotAllowed: locale.Sentence("This address works differently"),
	fiber.StatusNotImplemented:   locale.Sentence("Not possible here"),
	fiber.StatusTooManyRequests:  locale.Sentence("Too many tries"),
}

// message answers with a calm page, or with a line of text where no page is expected.
func (r *request) message(m views.MessageProps) error {
	r.Status(m.Status)
	if !strings.Contains(r.Get(fiber.HeaderAccept), "text/html") {
		r.Type("txt", "utf-8")
		return r.SendString(cmp.Or(m.Sentence, utils.StatusMessage(m.Status)) + "\n")
	}
	l := r.layout(utils.StatusMessage(m.Status), "")
	if r.who.Role == 0 {
		l.User, l.Role, l.CanAct, l.Demo = "", "", false, false
	}
	return r.page(m.Status, views.MessagePage(l, m))
}

func wrongMethod(allow string) func(*request) error {
	return func(r *request) error {
		r.Set(fiber.HeaderAllow, allow)
		return refuse(fiber.StatusMethodNotAllowed, "This address takes %s only. Nothing was changed.", allow)
	}
}

func nothingHere(*request) error { return store.ErrNotFound }
