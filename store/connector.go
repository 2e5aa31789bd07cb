package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/lib/pq"
)

// connector opens connections with our dialer and puts our settings on them.
type connector struct {
	pq       *pq.Connector
	cfg      pq.Config
	dialer   *dialer
	settings string
	must     bool // a refused setting fails the connection
	logger   *slog.Logger
	warned   sync.Once
}

func newConnector(cfg pq.Config, d *dialer, settings []string, logger *slog.Logger) (*connector, error) {
	c, err := pq.NewConnectorConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("database address: %w", err)
	}
	c.Dialer(d)
	return &connector{pq: c, cfg: cfg, dialer: d, settings: strings.Join(settings, "; "), logger: logger}, nil
}

// engineSettings pins the plans our statements were measured with: they take
// index order by construction, and near-empty or stale statistics must not turn
// them into hash joins over all jobs. What the address sets itself stays, but for
// the isolation: claims and settles wait for each other and look again, which
// only read committed does.
func engineSettings(cfg pq.Config) []string {
	settings := [][2]string{
		{"plan_cache_mode", "force_generic_plan"},
		{"jit", "off"},
		{"enable_seqscan", "off"},
		{"enable_hashjoin", "off"},
		{"enable_mergejoin", "off"},
		{"enable_bitmapscan", "off"},
		{"statement_timeout", "30000"},
		// A database whose default is serializable would fail most claims.
		{isolation, "'read committed'"},
	}
	var sets []string
	for _, s := range settings {
		if _, own := cfg.Runtime[s[0]]; !own || s[0] == isolation {
			sets = append(sets, "set "+s[0]+" = "+s[1])
		}
	}
	return sets
}

const isolation = "default_transaction_isolation"

// Connect implements driver.Connector.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	cn, err := c.pq.Connect(ctx)
	if err != nil {
		return nil, explain(err, c.cfg)
	}
	if c.settings == "" {
		return cn, nil
	}
	if _, err := cn.(driver.ExecerContext).ExecContext(ctx, c.settings, nil); err != nil {
		if c.must || ctx.Err() != nil || IsRetryable(err) {
			cn.Close()
			return nil, fmt.Errorf("set up a connection: %w", err)
		}
		c.warned.Do(func() {
			c.logger.Warn("connection settings refused: statements run with the server's own planner settings and may be slower",
				"error", err)
		})
	}
	return cn, nil
}

// Driver implements driver.Connector.
func (c *connector) Driver() driver.Driver { return c.pq.Driver() }
