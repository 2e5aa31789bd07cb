package web

import "github.com/gofiber/fiber/v2"

const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// setHeaders goes before everything else, so that refusals and errors carry them too.
// Referrer-Policy is not no-referrer: that turns the Origin of our forms into "null".
func setHeaders(c *fiber.Ctx) {
	c.Set("Content-Security-Policy", contentPolicy)
	c.Set("X-Content-Type-Options", "nosniff")
	c.Set("Referrer-Policy", "same-origin")
	c.Set("Cache-Control", "no-store")
	c.Set("X-Frame-Options", "DENY") // for browsers that do not know frame-ancestors
	c.Set("Cross-Origin-Opener-Policy", "same-origin")
	c.Set("Cross-Origin-Resource-Policy", "same-origin")
	c.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
}
