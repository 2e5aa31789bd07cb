package web

import (
	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/views/locale"
)

const (
	languageCookie = "tekrar_language"
	zoneCookie     = "tekrar_zone"
)

// locale is the language and zone that the person chose for their browser. Without a
// choice the language is the browser's, where the dashboard speaks it, and the zone
// is UTC. A cookie of a language or zone that is no more counts as no choice.
func (r *request) locale() *locale.Locale {
	if r.reads != nil {
		return r.reads
	}
	lang, err := locale.New(keep(r.Cookies(languageCookie)), "")
	if err != nil || r.Cookies(languageCookie) == "" {
		lang, _ = locale.New(locale.Preferred(keep(r.Get(fiber.HeaderAcceptLanguage))), "")
	}
	r.reads = lang
	if both, err := locale.New(lang.Tag(), keep(r.Cookies(zoneCookie))); err == nil {
		r.reads = both
	}
	return r.reads
}

// localeSet keeps the language or the zone; set says whether one was given.
func (r *request) localeSet() (set bool, err error) {
	language, err := r.field("language")
	if err != nil {
		return false, err
	}
	zone, err := r.field("zone")
	if err != nil || language == "" && zone == "" {
		return false, err
	}
	if _, err := locale.New(language, ""); err != nil {
		return false, badInput("Field language: unknown %s. Known ones: %s.", shorten(language), locale.Known())
	}
	if _, err := locale.New("", zone); err != nil {
		return false, badInput("Field zone: unknown %s. It is a name such as Europe/Istanbul, or UTC.", shorten(zone))
	}
	if language != "" {
		r.d.setCookie(r.Ctx, languageCookie, language, yearSeconds)
	}
	if zone != "" {
		r.d.setCookie(r.Ctx, zoneCookie, zone, yearSeconds)
	}
	return true, nil
}
