package web

import "slices"

const yearSeconds = 365 * 24 * 60 * 60

// themeSet keeps the chosen theme in the browser; auto forgets it.
func themeSet(r *request) error {
	theme, err := r.field("theme")
	if err != nil {
		return err
	}
	back, err := r.field("back")
	if err != nil {
		return err
	}
	if !slices.Contains([]string{"light", "dark", "auto"}, theme) {
		return badInput("Field theme: unknown %s. Known ones: light, dark, auto.", shorten(theme))
	}
	maxAge := yearSeconds
	if theme == "auto" {
		maxAge = -1
	}
	r.d.setCookie(r.Ctx, themeCookie, theme, maxAge)
	return r.seeOther(back)
}
