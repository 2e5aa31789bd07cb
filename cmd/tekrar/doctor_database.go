package main

import (
	"context"
	"fmt"
	"time"

	"github.com/tekrar/tekrar/store"
)

func (e *examination) connects(ctx context.Context) bool {
	if err := e.db.Ping(ctx); err != nil {
		e.add("connection", wrong, err.Error(), "check DATABASE_URL or --database, the server and the network between")
		return false
	}
	if err := e.db.CheckVersion(ctx); err != nil {
		e.add("connection", wrong, err.Error(), "upgrade the server")
		return false
	}
	e.add("connection", fine, "the server answers", "")
	return true
}

func (e *examination) writable(d store.Diagnosis) {
	e.add("version", fine, "Postgres "+d.Version, "")
	switch {
	case d.Replica:
		e.add("writes", warning, "this is a replica and takes no writes", "workers need the primary; the dashboard works here, without its buttons")
	case d.ReadOnly:
		e.add("writes", wrong, "transactions are read-only here", "look at default_transaction_read_only of the database, the user and the address")
	default:
		e.add("writes", fine, "this server takes writes", "")
	}
}

// The database's clock decides when jobs run; ours only computes "in two hours".
const (
	clockWarning = 2 * time.Second
	clockWrong   = time.Minute
)

func (e *examination) clock(ctx context.Context) {
	before := time.Now()
	now, err := e.db.Clock(ctx)
	if err != nil {
		e.add("clock", wrong, err.Error(), "")
		return
	}
	trip := time.Since(before)
	off := now.Sub(before.Add(trip / 2))
	says := fmt.Sprintf("the database is %s ahead of this machine, give or take %s", off.Round(time.Millisecond), (trip / 2).Round(time.Microsecond))
	if off < 0 {
		says = fmt.Sprintf("the database is %s behind this machine, give or take %s", (-off).Round(time.Millisecond), (trip / 2).Round(time.Microsecond))
	}
	switch away := max(off.Abs()-trip/2, 0); {
	case away > clockWrong:
		e.add("clock", wrong, says, "set both clocks, by NTP for example: times that programs compute are this much off")
	case away > clockWarning:
		e.add("clock", warning, says, "set both clocks, by NTP for example")
	default:
		e.add("clock", fine, says, "")
	}
}

func (e *examination) schema(ctx context.Context) bool {
	if err := e.db.CheckSchema(ctx); err != nil {
		e.add("schema", wrong, err.Error(), "")
		return false
	}
	steps, err := e.db.MigrateStatus(ctx)
	if err != nil || len(steps) == 0 {
		e.add("schema", wrong, fmt.Sprint(err), "")
		return false
	}
	how, newest := "as this program needs", steps[len(steps)-1]
	if newest.Name == "" {
		how = "newer than this program by steps that only add"
	}
	e.add("schema", fine, fmt.Sprintf("%s is at version %d, %s", e.db.Schema(), newest.Version, how), "")
	return true
}

// heardWithin is far above a round trip: the first probe goes out at once.
const heardWithin = 5 * time.Second

func (e *examination) listens(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, heardWithin)
	defer cancel()
	switch {
	case e.db.Pooled():
		e.add("notifications", fine, "the address says binary_parameters=yes, so it leads through a pooler: jobs are found by polling", "")
	case e.db.Heard(ctx):
		e.add("notifications", fine, "LISTEN delivers", "")
	default:
		e.add("notifications", wrong, fmt.Sprintf("LISTEN delivered nothing within %s", heardWithin),
			"give a direct address instead of the pooler's, or say binary_parameters=yes in it; until then jobs are found by polling only")
	}
}
