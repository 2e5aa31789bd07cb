package web

import (
	_ "embed"

	"github.com/gofiber/fiber/v2"
)

// openAPI describes the API. Its one server is relative, so it holds under every prefix.
//
//go:embed openapi.json
var openAPI []byte

func openAPIShow(r *request) error {
	r.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return r.Send(openAPI)
}
