package bench

import (
	"strings"
	"time"
)

// spent is processor time used so far.
type spent struct{ engine, postgres time.Duration }

func (s spent) since(before spent) spent {
	return spent{engine: s.engine - before.engine, postgres: s.postgres - before.postgres}
}

// processor prints what a job took of processor time, by the program (engine, callers
// and dashboard) and by Postgres; nothing where the system does not tell.
func (b *bench) processor(f Figure, used spent, n int) {
	if used.postgres <= 0 || n == 0 {
		return
	}
	for _, part := range []struct {
		name string
		took time.Duration
	}{{"", used.engine + used.postgres}, {"_go", used.engine}, {"_postgres", used.postgres}} {
		one := f
		one.Figure = strings.Replace(f.Figure, "cpu", "cpu"+part.name, 1)
		one.Value, one.Unit = float64(part.took.Nanoseconds())/1000/float64(n), "us/job"
		b.print(one)
	}
}

// soFar is the unit of lines by which another engine says what it has used of the
// processor: one when it begins and one when it is done.
const soFar = "us so far"

// between turns these lines into figures.
type between struct {
	b     *bench
	begun map[string]spent
}

func (w *between) hear(f Figure) {
	now := spent{engine: time.Duration(f.Value) * time.Microsecond, postgres: w.b.spentByPostgres()}
	if before, ok := w.begun[f.Figure]; ok {
		delete(w.begun, f.Figure)
		n := w.b.Jobs
		if f.Bench != "drain" {
			n = w.b.Rate * w.b.Seconds
		}
		w.b.processor(f, now.since(before), n)
		return
	}
	w.begun[f.Figure] = now
}

func (b *bench) spentByPostgres() time.Duration {
	if b.server == nil || b.server.PID() == 0 {
		return 0
	}
	return spentBelow(b.server.PID())
}

func (b *bench) spent() spent { return spent{engine: spentHere(), postgres: b.spentByPostgres()} }
