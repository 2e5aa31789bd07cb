package store

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// DefaultSchema is the schema that holds Tekrar's tables unless Options say otherwise.
const DefaultSchema = "tekrar"

// generalConns caps the embedded pool. It serves reads of the dashboard only:
// claiming and settling have pools of their own, so that a slow page cannot
// keep a finished job waiting for a connection.
const generalConns = 8

// Options tell Open what differs from the defaults. The zero value is good.
type Options struct {
	// Schema holds Tekrar's tables: any identifier of 1 to 63 bytes without NUL,
	// it is quoted wherever it is used. Default "tekrar".
	Schema string
	// Logger gets warnings about settings the server refused. Default slog.Default().
	Logger *slog.Logger
	// ReadTimeout is the longest silence of the server in the middle of an
	// answer, per Read on the socket. Default 60 s: above the statement
	// timeout of 30 s, so that a slow statement is ended by the server.
	// Listeners must be pinged more often than that. Negative means none.
	ReadTimeout time.Duration
	// WriteTimeout is the longest wait for the network to take a request, per
	// Write on the socket. Default 15 s. Negative means none.
	WriteTimeout time.Duration
	// Dial opens the sockets of every connection, listeners and cancellations of
	// statements included, for instance through a tunnel or a cloud provider's
	// connector. network and address are as for net.Dial. Default: a net.Dialer with
	// keep-alive.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

func (o Options) withDefaults() Options {
	if o.Schema == "" {
		o.Schema = DefaultSchema
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.ReadTimeout == 0 {
		o.ReadTimeout = 60 * time.Second
	}
	if o.WriteTimeout == 0 {
		o.WriteTimeout = 15 * time.Second
	}
	return o
}

// DB is a Postgres database with Tekrar's schema. The embedded pool (at most 8
// connections) is for reads; writes go through Tx.
type DB struct {
	*sqlx.DB
	opts   Options
	cfg    pq.Config
	dsn    string
	conn   *connector
	quoted string
	local  string // settings for each transaction, through a pooler only; see pooled.go

	texts sync.Map // SQL as written -> SQL with the schema in place

	hot   hotPools
	bloat bloat
	life  context.Context // ends with Close
	end   context.CancelFunc
	pause func(point string) // tests stop here between a read and its write
	still time.Duration      // see briefly

	mu       sync.Mutex
	closed   bool
	pools    []*sql.DB
	sessions []*sessions
}

// Open reads the connection string and prepares the pools; it does not connect,
// so an unreachable server is reported by the first use (Ping, CheckVersion).
//
// dsn is a URL (postgres://user:password@host:port/database?sslmode=disable) or
// key=value pairs. What it leaves out comes from the PG* environment variables.
// connect_timeout defaults to 10 s, application_name to tekrar.
//
// An address that leads through a connection pooler in transaction mode (PgBouncer
// and its like) has to say binary_parameters=yes: statements are then not prepared,
// nothing is set on a session, and jobs are found by polling, since a pooler delivers
// no notifications. Migrate over a direct address.
func Open(dsn string, o Options) (*DB, error) {
	o = o.withDefaults()
	if err := checkSchemaName(o.Schema); err != nil {
		return nil, err
	}
	cfg, err := parseDSN(dsn)
	if err != nil {
		return nil, err
	}
	db := &DB{opts: o, cfg: cfg, dsn: dsn, quoted: pq.QuoteIdentifier(o.Schema), still: standstill, bloat: bloat{from: bloatedFrom}}
	settings := engineSettings(cfg)
	if pooled(cfg) {
		db.local, settings = localSettings(settings), nil
	}
	db.conn, err = newConnector(cfg, newDialer(o), settings, o.Logger)
	if err != nil {
		return nil, err
	}
	db.life, db.end = context.WithCancel(context.Background())
	db.DB = sqlx.NewDb(db.openPool(generalConns), "postgres")
	return db, nil
}

// Schema is the configured schema name, unquoted.
func (db *DB) Schema() string { return db.opts.Schema }

// sql puts the configured schema into a statement written with the prefix "tekrar.".
func (db *DB) sql(text string) string {
	if s, ok := db.texts.Load(text); ok {
		return s.(string)
	}
	s := db.qualified(text)
	db.texts.Store(text, s)
	return s
}

// qualified is sql for a text that will hardly come again.
func (db *DB) qualified(text string) string {
	inString := "'" + strings.ReplaceAll(db.quoted, "'", "''") + "."
	return strings.NewReplacer("'tekrar.", inString, "tekrar.", db.quoted+".").Replace(text)
}

// openPool opens a further pool of at most max connections, all kept while idle.
// Close closes it.
func (db *DB) openPool(max int) *sql.DB {
	p := sql.OpenDB(db.conn)
	p.SetMaxOpenConns(max)
	p.SetMaxIdleConns(max)
	// Without an end a pool sticks to the server it first reached when a
	// balancer or a failover brings another.
	p.SetConnMaxLifetime(time.Hour)
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		p.Close()
	}
	db.pools = append(db.pools, p)
	return p
}

// Listener opens a LISTEN connection of its own with the same dialer. It must
// be pinged more often than Options.ReadTimeout, else its silence counts as a
// dead network and it reconnects. The caller closes it.
func (db *DB) Listener(min, max time.Duration, cb pq.EventCallbackType) *pq.Listener {
	return pq.NewDialListener(db.conn.dialer, withConnectTimeout(db.dsn, db.cfg), min, max, cb)
}

// Ping asks whether the server answers.
func (db *DB) Ping(ctx context.Context) error { return db.DB.PingContext(ctx) }

// Close closes every pool of this DB. Listeners are closed by those who opened them.
func (db *DB) Close() error {
	db.end()
	db.mu.Lock()
	pools, pinned := db.pools, db.sessions
	db.pools, db.sessions, db.closed = nil, nil, true
	db.mu.Unlock()
	var errs []error
	for _, p := range pools {
		errs = append(errs, p.Close())
	}
	for _, s := range pinned {
		s.close()
	}
	return errors.Join(errs...)
}

// Same reports that both are the same schema of the same address.
func (db *DB) Same(other *DB) bool {
	return db == other || db != nil && other != nil && db.dsn == other.dsn && db.opts.Schema == other.opts.Schema
}
