package jobs

import (
	"slices"
	"time"

	"github.com/tekrar/tekrar/store"
)

// unit is what one claim asks for: queues and kinds that share the same limits.
// Without limits there is one unit with everything.
type unit struct {
	queues []string
	kinds  []string
	slots  int           // most jobs of the (single) queue at once in this process; 0: no limit
	limits []store.Limit // over all servers; nil: none

	lastFull time.Time // last scan from the start of each lane
	fullTook time.Duration
	beside   bool       // it was a look beside the claims
	blind    bool       // the last such look failed
	looking  chan front // the look beside the claims; nil: none
}

// units splits what this server takes: queues without a limit together, each
// other queue apart, and in each of these the kinds in the same way.
func (c *Client) units(queues map[string]int) []*unit {
	free, limited := []string{}, []string{}
	kinds := c.registered()
	for _, kind := range sortedKeys(kinds) {
		if kinds[kind].limit > 0 {
			limited = append(limited, kind)
		} else {
			free = append(free, kind)
		}
	}
	var shared []string
	var all []*unit
	add := func(queues []string, slots int, limits ...store.Limit) {
		if len(free) > 0 {
			all = append(all, &unit{queues: queues, kinds: free, slots: slots, limits: limits})
		}
		for _, kind := range limited {
			own := append(slices.Clone(limits), store.Limit{Scope: store.LimitKind, Name: kind, Running: kinds[kind].limit})
			all = append(all, &unit{queues: queues, kinds: []string{kind}, slots: slots, limits: own})
		}
	}
	for _, name := range sortedKeys(queues) {
		over, ok := c.cfg.QueueLimits[name]
		switch {
		case ok:
			add([]string{name}, queues[name], store.Limit{Scope: store.LimitQueue, Name: name, Running: over})
		case queues[name] > 0:
			add([]string{name}, queues[name])
		default:
			shared = append(shared, name)
		}
	}
	if len(shared) > 0 {
		add(shared, 0)
	}
	return all
}

// limitsOf lists the limits of all units, each once.
func limitsOf(units []*unit) []store.Limit {
	var list []store.Limit
	for _, u := range units {
		for _, l := range u.limits {
			if !slices.Contains(list, l) {
				list = append(list, l)
			}
		}
	}
	return list
}

// limited reports that a job counts against a limit: its end makes room on other
// servers, which have to be told.
func (k *claimer) limited(queue, kind string) bool {
	if _, ok := k.e.cfg.QueueLimits[queue]; ok {
		return true
	}
	h := k.e.kinds[kind]
	return h != nil && h.limit > 0
}
