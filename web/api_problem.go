package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"
)

// problem is a refusal that a program can tell from others of its status.
type problem struct {
	refusal
	name  string         // last part of its type
	extra map[string]any // further members
}

// problemType is the prefix of the types of RFC 9457: names, not addresses.
const problemType = "urn:tekrar:problem:"

// problem answers a program, in the form of RFC 9457. What says no more than its
// status has the type about:blank.
func (r *request) problem(said refusal, err error) error {
	body := map[string]any{"type": "about:blank", "title": utils.StatusMessage(said.status), "status": said.status}
	if said.sentence != "" {
		body["detail"] = said.Error()
	}
	var stated problem
	switch {
	case errors.As(err, &stated):
		body["type"] = problemType + stated.name
		maps.Copy(body, stated.extra)
	case said.sentence == errReadOnly.sentence:
		body["type"] = problemType + "read-only"
	case tooSlow(err):
		body["type"] = problemType + "too-slow"
	}
	r.Status(said.status)
	return r.json(body, "application/problem+json")
}

// json sends a value; addresses and markup in texts stay as they are.
func (r *request) json(value any, mediaType string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return err
	}
	r.Set(fiber.HeaderContentType, mediaType)
	return r.Send(b.Bytes())
}

func (r *request) answer(status int, value any) error {
	r.Status(status)
	return r.json(value, fiber.MIMEApplicationJSON)
}
