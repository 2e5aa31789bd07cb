package bookstore

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tekrar/tekrar/web"
)

// choice is a switch that is on or off.
type choice struct {
	name, label, hint string
	at                func(*Switches) *bool
}

var choices = []choice{
	{"ignore_keys", "Ignore idempotency keys", "On: every request delivers, also the second one with a key.", func(s *Switches) *bool { return &s.IgnoreKeys }},
	{"refuse", "Refuse", "403, and nothing is delivered.", func(s *Switches) *bool { return &s.Refuse }},
	{"throttle", "Too many requests", "429 with Retry-After: 1, and nothing is delivered.", func(s *Switches) *bool { return &s.Throttle }},
	{"fail_before", "Fail before the delivery", "500, and nothing is delivered.", func(s *Switches) *bool { return &s.FailBefore }},
	{"fail_after", "Fail after the delivery", "500, and the mail is out.", func(s *Switches) *bool { return &s.FailAfter }},
	{"keep_errors", "Keep failures under their key", "The 500 is repeated for as long as the key lives.", func(s *Switches) *bool { return &s.KeepErrors }},
	{"drop", "Drop the connection after the delivery", "The mail is out, and the caller sees a broken connection.", func(s *Switches) *bool { return &s.Drop }},
	{"silent", "Give no answer after the delivery", "The mail is out, and the caller waits until its own timeout.", func(s *Switches) *bool { return &s.Silent }},
}

// providerPage is the provider on the dashboard.
type providerPage struct {
	*Provider
	url string

	mu    sync.Mutex
	actor string
	at    time.Time
}

func (l *Lab) providerPage() *web.Provider {
	p := &providerPage{Provider: l.provider, url: l.url}
	return &web.Provider{
		Title: "The mail provider",
		Lead: "It delivers invoices at " + l.url + " and honours idempotency keys, until you turn a switch. " +
			"The scenario cards bring switches of their own for their first requests. It remembers nothing when the demo starts again.",
		Switches: p.list, Turn: p.turn, Turned: p.turned, LookUp: p.lookUp,
		Log: func() web.Report {
			r := l.providerReport()
			r.Title = "Its log"
			return r
		},
	}
}

const latencyLimit = int64(maxLatency / time.Millisecond)

func (p *providerPage) list() []web.Switch {
	s := p.Switched()
	life := cmp.Or(s.KeyLife, defaultKeyLife)
	list := []web.Switch{
		{Name: "key_life", Label: "Key life, s", Value: strconv.FormatInt(int64(life/time.Second), 10), Hint: fmt.Sprintf("1 to %d, from the first request", int64(defaultKeyLife/time.Second))},
		{Name: "latency", Label: "Latency, ms", Value: strconv.FormatInt(s.Latency.Milliseconds(), 10), Hint: fmt.Sprintf("0 to %d; the shop waits for %d", latencyLimit, providerPatience.Milliseconds())},
	}
	for _, c := range choices {
		one := web.Switch{Name: c.name, Label: c.label, Hint: c.hint, Choice: true}
		if *c.at(&s) {
			one.Value = "1"
		}
		list = append(list, one)
	}
	return list
}

func (p *providerPage) turn(actor string, typed map[string]string) error {
	life, err := number(typed, "key_life", 1, int64(defaultKeyLife/time.Second))
	if err != nil {
		return err
	}
	latency, err := number(typed, "latency", 0, latencyLimit)
	if err != nil {
		return err
	}
	s := Switches{KeyLife: time.Duration(life) * time.Second, Latency: time.Duration(latency) * time.Millisecond}
	for _, c := range choices {
		switch typed[c.name] {
		case "1":
			*c.at(&s) = true
		case "":
		default:
			return fmt.Errorf("%s is %q, must be 1 or empty", c.name, typed[c.name])
		}
	}
	p.Set(s)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.actor, p.at = actor, time.Now()
	return nil
}

func (p *providerPage) turned() (actor string, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.actor, p.at
}

// lookUp words what GET of the provider answers.
func (p *providerPage) lookUp(key string) string {
	clean, err := readKey([]string{strings.TrimSpace(key)})
	if err != nil {
		return "That is no key: " + err.Error() + "."
	}
	r, found := p.find(clean)
	switch {
	case !found:
		return "No request came with this key, or it is forgotten."
	case !r.done:
		return "The first request with this key still runs."
	case r.messageID == "":
		return fmt.Sprintf("The first request with this key came at %s UTC and delivered nothing.", clockTime(r.at))
	}
	return fmt.Sprintf("The first request with this key came at %s UTC and delivered %s.", clockTime(r.at), r.messageID)
}
