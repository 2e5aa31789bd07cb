package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/tekrar/tekrar/store"
)

func (e *examination) vacuum(d store.Diagnosis) {
	if !d.Autovacuum || !d.TrackCounts {
		e.add("vacuum", wrong, "autovacuum is off on the whole server", "set autovacuum = on and track_counts = on: claims slow down with every finished job")
		return
	}
	var bad []string
	for _, t := range d.Tables {
		switch {
		case t.Off:
			bad = append(bad, t.Table+": autovacuum is off")
		case t.Threshold == 0:
			bad = append(bad, t.Table+": its own vacuum settings are gone")
		case t.Dead > 10*t.Threshold:
			bad = append(bad, fmt.Sprintf("%s: %d dead rows, vacuumed %s", t.Table, t.Dead, orNever(t.Vacuumed)))
		}
	}
	if len(bad) > 0 {
		e.add("vacuum", wrong, strings.Join(bad, "; "), "end what holds old rows (see open transactions), then vacuum; tekrar migrate print shows the settings of these tables")
		return
	}
	e.add("vacuum", fine, "autovacuum looks after the tables that turn over", "")
}

func orNever(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return stamp(*t)
}

func (e *examination) transactions(d store.Diagnosis) {
	if len(d.Open) == 0 {
		says := fmt.Sprintf("none is open for longer than %s", e.long)
		if d.Hidden > 0 {
			says += fmt.Sprintf(", of those this user may see; %d sessions are hidden", d.Hidden)
		}
		e.add("open transactions", fine, says, "")
		return
	}
	var all []string
	for _, o := range d.Open {
		all = append(all, fmt.Sprintf("pid %d (%s, %s, %s) for %s", o.PID, o.Application, o.User, o.State, age(d.Now.Sub(o.Since))))
	}
	e.add("open transactions", warning, strings.Join(all, "; "),
		"while they are open no vacuum removes what died since: end them, by select pg_terminate_backend(PID) or rollback prepared")
}

func (e *examination) connections(d store.Diagnosis) {
	says := fmt.Sprintf("%d of %d are taken", d.Connections, d.MaxConnections)
	if d.Connections*10 >= d.MaxConnections*9 {
		e.add("connections", warning, says, "raise max_connections or put a pooler before the server: a process that runs jobs takes about 25")
		return
	}
	e.add("connections", fine, says, "")
}
