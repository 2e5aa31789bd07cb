package bench

import (
	"context"
	"fmt"
	"strings"

	"github.com/tekrar/tekrar/store"
)

// ChaosSettings of a chaos run; its line of figures repeats them.
type ChaosSettings struct {
	Minutes   float64 `json:"minutes"` // under load; the drain comes on top
	Seed      uint64  `json:"seed"`    // of faults and load; their effects still depend on the machine
	Processes int     `json:"processes"`
	Crashes   float64 `json:"crashes"` // of the database, a minute; 0: none

	Working Working `json:"-"` // is told of each phase; nil: nobody
}

// Check names the first setting that is out of its bounds.
func (s ChaosSettings) Check() error {
	switch {
	case !(s.Minutes > 0 && s.Minutes <= 24*60):
		return fmt.Errorf("--minutes is %v: above 0, at most 1440", s.Minutes)
	case s.Processes < 2 || s.Processes > 50:
		return fmt.Errorf("--workers-processes is %d: 2 to 50, since one is always left in peace", s.Processes)
	case !(s.Crashes >= 0 && s.Crashes <= 10):
		return fmt.Errorf("--crashes is %v: 0 to 10 a minute", s.Crashes)
	}
	return nil
}

// collect reads the evidence; what the database's own checker finds are breaches.
func (e *evidence) collect(ctx context.Context, db *store.DB, journal string) (err error) {
	if err := db.Check(ctx); err != nil {
		for line := range strings.Lines(err.Error()) {
			e.breach("%s", strings.TrimSpace(line))
		}
	}
	if e.record, err = db.Record(ctx); err != nil {
		return err
	}
	e.effects, err = readJournal(journal)
	return err
}
