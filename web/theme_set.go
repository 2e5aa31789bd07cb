package web

import (
	"slices"
	"strings"
)

const yearSeconds = 365 * 24 * 60 * 60

const (
	themeCookie = "tekrar_theme"
	rowsCookie  = "tekrar_rows"
	keysCookie  = "tekrar_keys"
)

// choices are what a person may choose for their browser. The last value of each is
// what holds without a cookie, so choosing it forgets the cookie.
var choices = []struct {
	field, cookie string
	values        []string
}{
	{"theme", themeCookie, []string{"light", "dark", "auto"}},
	{"rows", rowsCookie, []string{"dense", "normal"}},
	{"keys", keysCookie, []string{"off", "on"}}, // WCAG 2.1.4
}

// themeSet keeps a choice in the browser: the theme, how high rows are, whether
// single keys do something, the language or the time zone.
func themeSet(r *request) error {
	back, err := r.field("back")
	if err != nil {
		return err
	}
	for _, c := range choices {
		v, err := r.field(c.field)
		if err != nil {
			return err
		}
		if v == "" {
			continue
		}
		at := slices.Index(c.values, v)
		if at < 0 {
			return badInput("Field %s: unknown %s. Known ones: %s.", c.field, shorten(v), strings.Join(c.values, ", "))
		}
		maxAge := yearSeconds
		if at == len(c.values)-1 {
			maxAge = -1
		}
		r.d.setCookie(r.Ctx, c.cookie, v, maxAge)
		return r.seeOther(back)
	}
	set, err := r.localeSet()
	if err != nil {
		return err
	}
	if set {
		return r.seeOther(back)
	}
	return badInput("One of the fields theme, rows, keys, language, zone must be given.")
}
