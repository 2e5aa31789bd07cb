package web

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/tekrar/tekrar/store"
)

const (
	metricsKept  = 3 * time.Second // several scrapers cost one reading
	metricsNames = 100             // kinds and queues with labels of their own; further ones are "other"
	otherName    = "other"
)

// metrics are readings of the database and what is counted from them. Counters begin
// with the process and grow with what ended in the whole database since then.
type metrics struct {
	mu       sync.Mutex
	last     []*dto.MetricFamily
	at       time.Time
	since    time.Time // where the minutes begin that are not counted for good
	settled  totals
	kinds    names
	queueSet names
}

func newMetrics() *metrics { return &metrics{settled: newTotals(), kinds: names{}, queueSet: names{}} }

func (s *metrics) gather(ctx context.Context, d *Dashboard) ([]*dto.MetricFamily, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last != nil && time.Since(s.at) < metricsKept {
		return s.last, nil
	}
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(d.newMetrics(ctx, s)); err != nil {
		return nil, err
	}
	families, err := registry.Gather()
	if err == nil {
		s.last, s.at = families, time.Now()
	}
	return families, err
}

// names gives the first of them labels of their own, for as long as the process
// lives: a name that moved to "other" would look like a counter that fell.
type names map[string]bool

func (n names) label(name string) string {
	if !n[name] {
		if len(n) >= metricsNames {
			return otherName
		}
		n[name] = true
	}
	return name
}

func gauge(d *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("tekrar_"+name, help, labels, nil)
}

var (
	descUp         = desc("up", "1 when the database answered within two seconds; else the other metrics are absent.")
	descEnded      = desc("attempts_ended_total", "Attempts that ended, by outcome and number of the attempt (snoozes not counted).", "kind", "outcome", "attempt")
	descFirstRatio = desc("first_attempt_success_ratio", "First attempts of the last five minutes that succeeded, of those that succeeded or failed; absent without any.")
	descRun        = desc("attempt_run_seconds", "Run time of attempts that succeeded or failed.", "kind")
	descWait       = desc("attempt_wait_seconds", "Time from ready to start of attempts that ended.", "queue")
	descServerWait = desc("server_wait_seconds", "Time from ready to start of the attempts that the process which was asked started itself, since it began.", "queue")
	descDepth      = desc("queue_depth", "Enqueued jobs, counted to 10,000 a queue.", "queue")
	descOldest     = desc("queue_oldest_seconds", "How long the oldest enqueued job waits; 0 when none does.", "queue")
	descRunning    = desc("queue_running", "Processing jobs.", "queue")
	descTakers     = desc("queue_servers", "Live servers that take jobs of the queue.", "queue")
	descPaused     = desc("queue_paused", "1 while the queue is paused.", "queue")
	descJobs       = desc("jobs", "Jobs by state; enqueued and awaiting ones counted to 10,000, succeeded and deleted ones to 1,000.", "state")
	descRetrying   = desc("retries_waiting", "Scheduled jobs that wait for a retry.")
	descClaims     = desc("claims", "Effect claims, counted to 10,000 each: held (claimed or begun), unknown, done, released.", "state")
	descDuplicates = desc("duplicate_effects", "Late receipts of the last 24 hours that tell of an effect too many.")
	descServers    = desc("servers", "Servers: live, draining (of the live ones), stopped and lost within 24 hours.", "state")
	descSlots      = desc("worker_slots", "Slots of live servers.")
	descBusy       = desc("worker_slots_busy", "Slots of live servers with a job.")
)

func outcomeName(o store.Outcome) string {
	return map[store.Outcome]string{
		store.OutcomeSucceeded: "succeeded", store.OutcomeRetried: "retried", store.OutcomeExhausted: "exhausted", store.OutcomePermanent: "permanent",
		store.OutcomeExceeded: "exceeded", store.OutcomeSnoozed: "snoozed", store.OutcomeInterrupted: "interrupted", store.OutcomeLost: "lost",
		store.OutcomeCancelled: "cancelled",
	}[o]
}
