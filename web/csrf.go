package web

import (
	"crypto/rand"
	"crypto/subtle"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

const tokenCookie = "tekrar_token"

// forged refuses a state-changing request that may not have come from our own page.
// Browsers since 2023 say it in Sec-Fetch-Site; for older ones both the Origin and the
// token of our form must agree.
func (d *Dashboard) forged(c *fiber.Ctx) (why refusal, yes bool) {
	if site := c.Get("Sec-Fetch-Site"); site != "" {
		if site == "same-origin" {
			return refusal{}, false
		}
		return refuse(fiber.StatusForbidden, "The request came from another site (%s). Open the dashboard itself and press the button there.", keep(site)), true
	}
	if !d.ownOrigin(c.Get(fiber.HeaderOrigin), hostOf(c)) {
		return refuse(fiber.StatusForbidden, "The request does not say that it comes from this dashboard's own pages. Open the dashboard itself and press the button there."), true
	}
	cookie, field := c.Cookies(tokenCookie), string(c.Request().PostArgs().Peek("token"))
	if !isToken(cookie) || subtle.ConstantTimeCompare([]byte(cookie), []byte(field)) != 1 {
		return refuse(fiber.StatusForbidden, "The page with that button is older than this session, so nothing was done. Go back, reload the page and press it again."), true
	}
	return refusal{}, false
}

// ownOrigin compares host and port, not the scheme: behind a proxy that ends TLS we
// see http while the browser says https.
func (d *Dashboard) ownOrigin(origin, host string) bool {
	if slices.Contains(d.o.AllowedOrigins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil || u.Path != "" || u.RawQuery != "" {
		return false
	}
	return strings.EqualFold(u.Host, host)
}

// hostOf is the Host header itself; c.Hostname() would believe X-Forwarded-Host.
func hostOf(c *fiber.Ctx) string { return string(c.Request().Header.Host()) }

// token is the value for our forms: the cookie's, or a new one with its cookie. It
// survives a restart of the process and works with several processes behind one name.
func (d *Dashboard) token(c *fiber.Ctx) string {
	if t := c.Cookies(tokenCookie); isToken(t) {
		return keep(t)
	}
	t := rand.Text()
	d.setCookie(c, tokenCookie, t, 0)
	return t
}

// isToken reports that a cookie could be ours; any other is replaced.
func isToken(s string) bool {
	return len(s) == 26 && !strings.ContainsFunc(s, func(r rune) bool { return !(r >= 'A' && r <= 'Z' || r >= '2' && r <= '7') })
}

// setCookie stores a cookie of the dashboard; maxAge 0 means until the browser
// closes, below 0 removes it.
func (d *Dashboard) setCookie(c *fiber.Ctx, name, value string, maxAge int) {
	cookie := fiber.Cookie{
		Name: name, Value: value, MaxAge: maxAge, SessionOnly: maxAge == 0,
		Path: d.links.Path("/"), HTTPOnly: true, Secure: c.Protocol() == "https", SameSite: "Strict",
	}
	if maxAge < 0 { // of which fasthttp says nothing
		cookie.Expires = fasthttp.CookieExpireDelete
	}
	c.Cookie(&cookie)
}
