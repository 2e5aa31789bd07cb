// Package idempotency makes an effect outside the database happen once, although
// the job that does it may run twice: at the same time, after a crash, or days
// later by hand. It also works outside of jobs.
//
// A Key names the effect. Before the effect its key is claimed: a row in the
// database says who may do it. The claim is begun right before the effect and
// marked as done with a receipt right after. Whoever comes later finds one of:
// done, with the receipt; busy, and waits; or begun by somebody who is gone. Then
// nobody can know whether it happened, and the option OnUnknown decides: hold it
// for a person, send again, or ask the provider.
//
//	claims, err := idempotency.New(db, idempotency.Config{})
//	…
//	_, err = claims.Do(ctx, idempotency.NewKey("invoice-email", 42), func(ctx context.Context, c *idempotency.Claim) (any, error) {
//		return mailer.Send(ctx, c.ProviderKey(), invoice)
//	})
//
// For effects in the same database DoTx needs no such care: claim, effect and the
// job's success commit together.
package idempotency

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// Mode says what becomes of a suspicion.
type Mode int

// The modes.
const (
	Warn   Mode = iota // log it; the default
	Strict             // refuse
	Off
)

// Config of New. The zero value is good.
type Config struct {
	// Guard judges keys that look as if they changed from run to run. Default Warn.
	Guard Mode
	// Drift judges successes that left an unsettled claim of the same job
	// untouched; see Checked. Default Warn.
	Drift Mode
	// StaleAfter is how long a claim made outside of a job lives without a sign of
	// life (Begin, Extend). Default 10 minutes, at least 1 s. Claims of jobs live
	// as long as their attempt.
	StaleAfter time.Duration
	// MarkPatience is how long Do tries to write down a finished effect while the
	// database is away. Default 15 s. Keep it and the effect's own timeout below the
	// lease of the engine.
	MarkPatience time.Duration
	// Holder names this process on screens. Default host and process id.
	Holder string
	// Logger gets warnings, and each receipt before it is written. Default slog.Default().
	Logger *slog.Logger
}

// DefaultStaleAfter is how long a claim made outside of a job lives.
const DefaultStaleAfter = 10 * time.Minute

// Claims makes and settles effect claims. It is safe for concurrent use.
type Claims struct {
	db  *jobs.DB
	cfg Config
}

// New prepares the claims of a database; it does not connect.
func New(db *jobs.DB, cfg Config) (*Claims, error) {
	if db == nil {
		return nil, &InputError{Field: "db", Problem: "is nil: make it with jobs.Open"}
	}
	if cfg.StaleAfter == 0 {
		cfg.StaleAfter = DefaultStaleAfter
	}
	if cfg.StaleAfter < time.Second {
		return nil, &InputError{Field: "StaleAfter", Problem: fmt.Sprintf("%v is below 1s", cfg.StaleAfter)}
	}
	if cfg.MarkPatience < 0 {
		return nil, &InputError{Field: "MarkPatience", Problem: fmt.Sprintf("%v is negative", cfg.MarkPatience)}
	}
	if cfg.MarkPatience == 0 {
		cfg.MarkPatience = 15 * time.Second
	}
	if cfg.Holder == "" {
		host, _ := os.Hostname()
		cfg.Holder = fmt.Sprintf("%s, process %d", host, os.Getpid())
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	return &Claims{db: db, cfg: cfg}, nil
}

// Holder is who holds a claim.
type Holder struct {
	JobID   int64 // 0: outside of a job
	Attempt int
	Name    string
}

func (h Holder) String() string {
	if h.JobID == 0 {
		return h.Name
	}
	return fmt.Sprintf("job %d, attempt %d", h.JobID, h.Attempt)
}

func holderOf(h store.EffectHolder) Holder {
	return Holder{JobID: h.JobID, Attempt: h.Attempt, Name: h.Name}
}
