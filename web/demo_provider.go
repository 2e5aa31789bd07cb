package web

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// Provider is the page of a made-up provider, which the Demo page leads to: how it
// behaves, what it knows of a key, what it was asked.
type Provider struct {
	Title, Lead string

	// Switches as they stand now.
	Switches func() []Switch

	// Turn sets all of them for actor, from what was typed by name; a choice is "1"
	// or empty. An error is shown at the form and should name the field and the limit.
	Turn func(actor string, typed map[string]string) error

	// Turned says who turned them last and when; the zero time means nobody has.
	Turned func() (actor string, at time.Time)

	// LookUp says in a sentence what became of a key.
	LookUp func(key string) string

	// Log is what it was asked, newest first.
	Log func() Report
}

// Switch is one thing about a Provider that can be changed: a choice, which is on if
// Value is not empty, or a number.
type Switch struct {
	Name, Label, Value, Hint string
	Choice                   bool
}

func (d *Dashboard) provider() (*Provider, error) {
	if d.o.Demo == nil || d.o.Demo.Provider == nil {
		return nil, store.ErrNotFound
	}
	return d.o.Demo.Provider, nil
}

func providerShow(r *request) error {
	provider, err := r.d.provider()
	if err != nil {
		return err
	}
	key, err := r.query("key")
	if err != nil {
		return err
	}
	p := presentProvider(provider)
	if p.Key = key; key != "" {
		p.Found = provider.LookUp(key)
	}
	return r.page(fiber.StatusOK, views.ProviderPage(r.layout(r.locale().Say("Provider"), "demo"), p))
}

// providerTurn sets the switches. What was typed wrongly is said above the form,
// with everything typed kept.
func providerTurn(r *request) error {
	provider, err := r.d.provider()
	if err != nil {
		return err
	}
	switches, typed := provider.Switches(), map[string]string{}
	for _, s := range switches {
		if typed[s.Name], err = r.field(s.Name); err != nil {
			return err
		}
	}
	if err := provider.Turn(r.who.Name, typed); err != nil {
		p := presentProvider(provider)
		p.Error = err.Error()
		for i := range p.Switches {
			p.Switches[i].Value = typed[p.Switches[i].Name]
		}
		return r.page(fiber.StatusBadRequest, views.ProviderPage(r.layout(r.locale().Say("Provider"), "demo"), p))
	}
	r.d.log.Info("dashboard: the demo provider's switches were turned", "actor", r.who.Name)
	return r.seeOther(r.d.links.DemoProvider())
}

func presentProvider(provider *Provider) views.ProviderProps {
	p := views.ProviderProps{Title: provider.Title, Lead: provider.Lead, Log: presentReports([]Report{provider.Log()})[0]}
	for _, s := range provider.Switches() {
		p.Switches = append(p.Switches, views.ProviderSwitch(s))
	}
	p.TurnedBy, p.TurnedAt = provider.Turned()
	return p
}
