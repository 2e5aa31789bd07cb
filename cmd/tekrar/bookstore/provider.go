package bookstore

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Provider is the made-up mail provider. It honours idempotency keys, and its
// switches make it fail in the ways in which real ones do. It keeps everything in
// memory: a restarted demo has a provider that remembers nothing.
//
// A key is reserved before the mail is delivered. A provider that notes the key
// afterwards delivers twice when two requests with one key come at once.
type Provider struct {
	now func() time.Time

	mu        sync.Mutex
	switches  Switches
	scripts   map[string][]Switches // by recipient: for its next requests, one each
	keys      map[string]*reservation
	keyOrder  []string
	delivered map[string][]string // by recipient: message ids
	people    []string
	log       []Asked
	mails     int
}

// Switches change how the provider treats a request. The zero value delivers.
type Switches struct {
	IgnoreKeys bool          // it knows nothing of idempotency keys
	KeyLife    time.Duration // it forgets a key that long after its first request; zero: 24 h
	Latency    time.Duration // the delivery takes that long; at most a minute
	Refuse     bool          // 403, nothing is delivered
	Throttle   bool          // 429 with Retry-After: 1, nothing is delivered
	FailBefore bool          // 500, nothing is delivered
	FailAfter  bool          // 500, and the mail is delivered
	KeepErrors bool          // the 500 is stored under the key and repeated for ever
	Drop       bool          // the mail is delivered and the connection cut without an answer
	Silent     bool          // the mail is delivered, and no answer comes for a minute
}

// Mail is what the provider delivers.
type Mail struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
	Body    string `json:"body,omitempty"`
}

// Asked is one request in the provider's log.
type Asked struct {
	At        time.Time
	To        string
	Key       string // "" if none came
	MessageID string // of the mail that it delivered or repeated
	Status    int    // 0: no answer was given
	Delivered bool   // this request delivered the mail
	Replayed  bool
}

// reservation is what the provider knows of a key.
type reservation struct {
	at          time.Time
	fingerprint [32]byte
	done        bool
	status      int
	messageID   string
}

const (
	defaultKeyLife = 24 * time.Hour
	maxLatency     = time.Minute
	maxKeys        = 10_000
	maxLog         = 1_000
)

// NewProvider makes a provider that works.
func NewProvider() *Provider {
	return &Provider{now: time.Now, scripts: map[string][]Switches{}, keys: map[string]*reservation{}, delivered: map[string][]string{}}
}

// Set turns the switches for every request that has no script.
func (p *Provider) Set(s Switches) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.switches = s
}

// Switched is how the switches stand.
func (p *Provider) Switched() Switches {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.switches
}

// Script sets the switches for the next requests to one recipient, one each; later
// ones get the general switches.
func (p *Provider) Script(to string, next ...Switches) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scripts[to] = slices.Clone(next)
}

// Delivered lists the message ids that went to a recipient: what counts in the end.
func (p *Provider) Delivered(to string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.delivered[to])
}

// Log lists the last requests, newest first, at most limit.
func (p *Provider) Log(limit int) []Asked {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := slices.Clone(p.log[max(0, len(p.log)-limit):])
	slices.Reverse(list)
	return list
}

// Replays counts the requests in the log that got an earlier answer again.
func (p *Provider) Replays(to string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.log {
		if a.To == to && a.Replayed {
			n++
		}
	}
	return n
}

// next takes the switches of one request. The caller holds the lock.
func (p *Provider) next(to string) Switches {
	script := p.scripts[to]
	if len(script) == 0 {
		return p.switches
	}
	if p.scripts[to] = script[1:]; len(script) == 1 {
		delete(p.scripts, to)
	}
	return script[0]
}

// deliver hands the mail over and returns its id. The caller holds the lock.
func (p *Provider) deliver(to string) string {
	p.mails++
	id := fmt.Sprintf("msg-%04d", p.mails)
	if p.delivered[to] == nil {
		p.people = append(p.people, to)
		if len(p.people) > maxKeys {
			delete(p.delivered, p.people[0])
			p.people = p.people[1:]
		}
	}
	p.delivered[to] = append(p.delivered[to], id)
	return id
}

func (p *Provider) note(a Asked) {
	a.At = p.now()
	if p.log = append(p.log, a); len(p.log) > maxLog {
		p.log = slices.Clone(p.log[len(p.log)-maxLog:])
	}
}
