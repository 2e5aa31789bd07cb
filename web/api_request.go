package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/store"
)

// forged refuses a state-changing request that may come from a page of somebody else.
// A program sends neither Sec-Fetch-Site nor Origin. What a browser could be made to
// send without them is no JSON: for that it asks us first (CORS), and gets no leave.
// An Authorization header proves nothing, because browsers add it by themselves.
func (r *request) forged() (why refusal, yes bool) {
	if !r.route.api {
		return r.d.forged(r.Ctx)
	}
	elsewhere := refuse(fiber.StatusForbidden, "The request came from a page of another site.")
	if site := r.Get("Sec-Fetch-Site"); site != "" {
		return elsewhere, site != "same-origin"
	}
	origin := r.Get(fiber.HeaderOrigin)
	return elsewhere, origin != "" && !r.d.ownOrigin(origin, hostOf(r.Ctx))
}

func isJSON(c *fiber.Ctx) bool {
	media, _, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	return err == nil && media == fiber.MIMEApplicationJSON
}

// read fills into from the body. Members that nobody knows are refused, so that a
// mistyped option never means its default. An empty body is an empty object.
func (r *request) read(into any) error {
	body := r.Request().Body()
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		return badInput("The body holds more than one JSON object.")
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return badInput("The body must be a JSON object.")
		}
		return badInput("Field %s: must not be a JSON %s.", wrong.Field, wrong.Value)
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return badInput("Field %s: unknown.", shorten(strings.Trim(name, `"`)))
	}
	return badInput("The body is no JSON object: %v.", err)
}

// named reads a name from the address. The router leaves it escaped, so that a%2Fb
// is one name.
func (r *request) named(param string) (string, error) {
	name, err := url.PathUnescape(keep(r.Params(param)))
	if err != nil || !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
		return "", store.ErrNotFound
	}
	return name, nil
}

// limit reads how many rows a page may have.
func (r *request) limit(most int) (int, error) {
	text, err := r.query("limit")
	if err != nil || text == "" {
		return pageRows, err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, badInput("Field limit: must be a whole number from 1 to %d.", most)
	}
	return n, nil
}
