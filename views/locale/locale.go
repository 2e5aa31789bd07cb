// Package locale writes the dashboard's sentences, numbers and times for one reader,
// who chose a language and a time zone.
//
// Sentences are looked up by their English text, which stands in the code where it is
// shown. A sentence that the catalogue does not have comes out in English.
package locale

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // zones are the same on every machine, also on one without any

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Default is the language of a reader who chose none and whose browser names none
// that is spoken here.
const Default = "en"

// UTC is the zone of a reader who chose none.
const UTC = "UTC"

// Language is one that the dashboard speaks.
type Language struct {
	Tag  string // BCP 47, as in the attribute lang
	Name string // in that language
}

// Languages are all of them, the default first.
var Languages = []Language{{Default, "English"}, {"tr", "Türkçe"}}

var matcher = language.NewMatcher([]language.Tag{language.English, language.Turkish})

// Locale is a language and a zone. It is safe for concurrent use; nil is English
// and UTC.
type Locale struct {
	tag  string
	zone *time.Location
	say  *message.Printer
	day  string // layout of a date
}

var printers = map[string]*message.Printer{
	"en": message.NewPrinter(language.English, message.Catalog(sentences)),
	"tr": message.NewPrinter(language.Turkish, message.Catalog(sentences)),
}

var days = map[string]string{"en": "2006-01-02", "tr": "02.01.2006"}

var english = &Locale{tag: Default, zone: time.UTC, say: printers[Default], day: days[Default]}

// made keeps the locales that were asked for: reading a zone takes its file. There are
// as many as zones and languages at most.
var made sync.Map

// New is the locale of a language and an IANA zone such as Europe/Istanbul; "" is
// the default of each. The error names the field, language or zone, and what it may be.
func New(lang, zone string) (*Locale, error) {
	name := lang + " " + zone
	if l, ok := made.Load(name); ok {
		return l.(*Locale), nil
	}
	l := *english
	if lang != "" {
		say, ok := printers[lang]
		if !ok {
			return nil, fmt.Errorf("field language: unknown %q; known are %s", clip(lang), Known())
		}
		l.tag, l.say, l.day = lang, say, days[lang]
	}
	if zone != "" {
		// "Local" would be the zone of the server, which tells the reader nothing.
		at, err := time.LoadLocation(zone)
		if err != nil || zone == "Local" {
			return nil, fmt.Errorf("field zone: unknown %q; it is an IANA name such as Europe/Istanbul, or UTC", clip(zone))
		}
		l.zone = at
	}
	made.Store(name, &l)
	return &l, nil
}

// Preferred is the language that fits an Accept-Language header best (RFC 9110, 12.5.4).
func Preferred(header string) string {
	_, at := language.MatchStrings(matcher, header)
	return Languages[at].Tag
}

// Known lists the tags of Languages: "en, tr".
func Known() string {
	tags := make([]string, len(Languages))
	for i, l := range Languages {
		tags[i] = l.Tag
	}
	return strings.Join(tags, ", ")
}

func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

// phrased is put together from sentences of the catalogue.
type phrased interface {
	Say(say func(format string, args ...any) string) string
}

func (l *Locale) or() *Locale {
	if l == nil {
		return english
	}
	return l
}

// Tag is the language, as in the attribute lang.
func (l *Locale) Tag() string { return l.or().tag }

// Zone is the name of the zone.
func (l *Locale) Zone() string { return l.or().zone.String() }

// Say is the sentence in the reader's language, with args in the places of its verbs
// as in fmt.Sprintf. A translation may take them in another order: %[2]s. Numbers of
// %d and %f are written as the language writes them, so ids go by %s. So do lengths
// of time, which come out as by Duration, and times, which come out as by Own. What is
// phrased, such as an input that package jobs refuses, is said in the same language.
func (l *Locale) Say(english string, args ...any) string {
	said := args
	for i, a := range args {
		var text string
		switch v := a.(type) {
		case time.Duration:
			text = l.Duration(v)
		case time.Time:
			text = l.Own(v)
		case phrased:
			text = v.Say(l.Say)
		default:
			continue
		}
		if &said[0] == &args[0] {
			said = slices.Clone(args) // they are the caller's
		}
		said[i] = text
	}
	return l.or().say.Sprintf(english, said...)
}

// Plural is one when n is 1, else many with n in the place of %d, and args after it.
// The catalogue has both; a language with more forms selects among them in that of many.
func (l *Locale) Plural(n int64, one, many string, args ...any) string {
	if n == 1 {
		return l.Say(one, args...)
	}
	return l.Say(many, append([]any{n}, args...)...)
}

// Sentence marks a text in a table that is given to Say later, and is that text.
func Sentence(english string) string { return english }
