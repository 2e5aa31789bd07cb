// Package jobs runs background jobs on Postgres and keeps every state change.
//
// A job is an args value with a kind; a function handles the kind. A Client
// enqueues jobs, in the caller's own transaction if wished, and its Run claims
// and runs them. A job runs at least once: a worker can die after the work and
// before the settle, so handlers have to stand a second run.
package jobs

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/tekrar/tekrar/store"
)

// The store's types that are part of this package's API.
type (
	// DB is a Postgres database with Tekrar's schema; see Open.
	DB = store.DB
	// Querier is *sql.DB, *sql.Conn, *sql.Tx or their sqlx twins.
	Querier = store.Querier
	// State is where a job stands.
	State = store.State
)

// The states of a job.
const (
	Awaiting   = store.Awaiting
	Scheduled  = store.Scheduled
	Enqueued   = store.Enqueued
	Processing = store.Processing
	Succeeded  = store.Succeeded
	Failed     = store.Failed
	Deleted    = store.Deleted
)

// Open prepares a database for New: dsn is a URL
// (postgres://user:password@host/name?sslmode=disable) or key=value pairs. It
// does not connect. The client uses connections of its own; a program's other
// pools can still enqueue through EnqueueTx.
func Open(dsn string) (*DB, error) { return store.Open(dsn, store.Options{}) }

// Client enqueues jobs and, while Run is active, runs them. It is safe for
// concurrent use. Register all kinds with Handle before Run.
type Client struct {
	db  *DB
	cfg Config
	log *slog.Logger

	mu        sync.Mutex
	kinds     map[string]*handler
	problems  []error // of registrations; Run returns them
	recurring map[string]RecurringSpec

	single  *combiner[store.NewJob, store.Created]
	waking  *waking
	changes *changes
	waits   waitCounts
	scans   scans
	engine  atomic.Pointer[engine]
}

// New makes a client. It does not connect; a configuration that cannot work is
// refused with the field named.
func New(db *DB, cfg Config) (*Client, error) {
	if db == nil {
		return nil, inputError("db", "is nil: make it with jobs.Open")
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Client{db: db, cfg: cfg, log: cfg.Logger, kinds: map[string]*handler{}, scans: scans{slow: slowScan, every: lookEvery}}
	c.waking = newWaking(db, cfg.Logger)
	c.changes = newChanges(db, cfg.Logger)
	c.single = newCombiner(2, 1000, c.flushSingles)
	if cfg.Webhook != "" {
		c.handleWebhook()
	}
	return c, nil
}

// DB returns the database of the client.
func (c *Client) DB() *DB { return c.db }

// Kinds lists the registered kinds, sorted.
func (c *Client) Kinds() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return sortedKeys(c.kinds)
}

func (c *Client) handlerOf(kind string) *handler {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kinds[kind]
}

// register adds a handler; what is wrong with it is kept for Run.
func (c *Client) register(h *handler, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && c.kinds[h.kind] != nil {
		err = inputError("kind", "has two handlers")
	}
	if err != nil {
		c.problems = append(c.problems, fmt.Errorf("handle kind %q: %w", h.kind, err))
		return
	}
	c.kinds[h.kind] = h
	if c.engine.Load() != nil {
		c.log.Warn("registered while Run is active: the kind is handled from the next Run on", "kind", h.kind)
	}
}

func (c *Client) registrationError() error {
	c.mu.Lock()
	err := errors.Join(c.problems...)
	c.mu.Unlock()
	return errors.Join(err, c.unknownQueues())
}

// registered is what an engine handles: a kind that is registered later is handled
// from the next Run on.
func (c *Client) registered() map[string]*handler {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.kinds)
}
