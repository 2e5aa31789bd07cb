package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// examined is what the doctor found, by check.
func examined(t *testing.T, r result) map[string]finding {
	t.Helper()
	var out struct{ Findings []finding }
	if err := json.Unmarshal([]byte(r.out), &out); err != nil {
		t.Fatalf("%v: %s; %s", err, r.out, r.err)
	}
	all := map[string]finding{}
	for _, f := range out.Findings {
		all[f.Check] = f
	}
	return all
}

func TestDoctorFindsHealth(t *testing.T) {
	t.Parallel()
	env := onDatabase(t)
	client := clientOf(t, env)
	jobs.Handle(client, func(context.Context, *jobs.Job[tick]) error { return nil })
	up := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { close(up); done <- client.Run(ctx) }()
	<-up
	defer func() { cancel(); <-done }()
	for {
		r := tekrar(t, env, "doctor", "--json")
		all := examined(t, r)
		if strings.HasPrefix(all["leases"].Says, "0") && ctx.Err() == nil {
			continue // it has not begun yet
		}
		for check, f := range all {
			if f.Level != fine && check != "listeners" {
				t.Errorf("%+v", f)
			}
		}
		if r.wantDone(t); len(all) < 10 {
			t.Errorf("only %d checks: %v", len(all), all)
		}
		return
	}
}

func TestDoctorFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	env := onDatabase(t)
	db := storetest.Open(t, strings.TrimPrefix(env[0], "DATABASE_URL="), store.Options{})
	tekrar(t, env, "jobs", "enqueue", "k", `{}`, "--queue", "mail").wantDone(t)
	conn, err := db.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, text := range []string{
		`alter table tekrar.ready set (autovacuum_enabled = off)`, `alter table tekrar.failed reset (autovacuum_vacuum_threshold)`,
		`begin`, `select count(*) from tekrar.jobs`,
	} {
		if _, err := conn.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	r := tekrar(t, env, "doctor", "--json", "--long", "1us")
	r.wantFailure(t, 1, "the doctor found something wrong")
	all := examined(t, r)
	for check, want := range map[string][2]string{
		"vacuum":            {wrong, "ready: autovacuum is off; "},
		"open transactions": {warning, "idle in transaction"},
		"workers":           {wrong, "mail"},
		"notifications":     {fine, "LISTEN delivers"},
		"oldest waiting":    {fine, "mail"},
	} {
		f := all[check]
		if check == "vacuum" {
			f.Says = strings.ReplaceAll(f.Says, "failed: its own vacuum settings are gone; ready: autovacuum is off", "ready: autovacuum is off; ")
		}
		if f.Level != want[0] || !strings.Contains(f.Says, want[1]) || f.Level != fine && f.Advice == "" {
			t.Errorf("%s: %+v, want %v", check, f, want)
		}
	}
	out := tekrar(t, env, "doctor").out
	if !strings.Contains(out, "=> start a worker for these queues") || !strings.Contains(out, "2 wrong") {
		t.Errorf("for eyes: %s", out)
	}
}

func TestDoctorWithoutSchemaOrServer(t *testing.T) {
	t.Parallel()
	r := tekrar(t, []string{"DATABASE_URL=" + storetest.EmptyDSN(t)}, "doctor", "--json")
	r.wantFailure(t, 1, "tekrar migrate up")
	if all := examined(t, r); all["connection"].Level != fine || all["schema"].Level != wrong {
		t.Errorf("%v", all)
	}
	r = tekrar(t, []string{"DATABASE_URL=postgres://nobody:secret@127.0.0.1:1/none?sslmode=disable"}, "doctor", "--json")
	r.wantFailure(t, 1, "refused")
	if strings.Contains(r.out+r.err, "secret") {
		t.Errorf("shows the password: %s %s", r.out, r.err)
	}
	tekrar(t, nil, "doctor").wantFailure(t, 2, "no database")
}

// A pooler takes LISTEN and delivers nothing.
func TestDoctorThroughAPooler(t *testing.T) {
	t.Parallel()
	pooled := storetest.Pooled(t, storetest.DSN(t))
	all := examined(t, tekrar(t, []string{"DATABASE_URL=" + pooled}, "doctor", "--json"))
	if f := all["notifications"]; f.Level != fine || !strings.Contains(f.Says, "polling") {
		t.Errorf("%+v", f)
	}
}
