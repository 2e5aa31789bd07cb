package bookstore

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// What the environment tells a worker process: this test binary, started again.
const (
	workerDSN      = "TEKRAR_TEST_LAB_DSN"
	workerSettings = "TEKRAR_TEST_LAB_SETTINGS"
)

func workerProcess(dsn string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	db, err := store.Open(dsn, store.Options{})
	if err == nil {
		defer db.Close()
		settings := strings.Fields(os.Getenv(workerSettings))
		err = RunWorker(ctx, db, os.Stdin, os.Stdout, slog.New(slog.DiscardHandler), settings)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "worker process:", err)
		return 1
	}
	return 0
}

// lab is a running bookshop with a provider and worker processes.
type lab struct {
	*Lab
	shop
	dsn string
}

func openTestLab(t *testing.T) lab {
	t.Helper()
	dsn := storetest.DSN(t)
	db := storetest.Open(t, dsn, store.Options{})
	quiet := slog.New(slog.DiscardHandler)
	client, err := jobs.New(db, jobs.Config{Workers: 4, Logger: quiet, Sweep: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	provider := NewProvider()
	server := httptest.NewServer(provider.Handler())
	l, err := OpenLab(t.Context(), client, LabConfig{
		URL: server.URL + ProviderPath, Provider: provider, Logger: quiet,
		Spawn: func(settings ...string) *exec.Cmd {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), workerDSN+"="+dsn, workerSettings+"="+strings.Join(settings, " "))
			cmd.Stderr = os.Stderr
			return cmd
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- client.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
		server.Close()
		if err := db.Check(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return lab{l, shop{nil, client, db}, dsn}
}

// Each card ends as it says, three times in a row, with real processes and a real kill.
func TestScenarioCards(t *testing.T) {
	t.Parallel()
	times := 3
	if testing.Short() {
		times = 1
	}
	// A card mostly waits for leases and answers: all play at once, more than the
	// processors that t.Parallel counts by.
	var all sync.WaitGroup
	defer all.Wait()
	for _, s := range scenarios() {
		all.Go(func() {
			t.Run(s.key, func(t *testing.T) {
				l := openTestLab(t)
				for range times {
					id := l.enqueue(t, Scenario{Card: s.key})
					d := l.until(t, id, store.Succeeded, store.Failed)
					runs, err := l.Runs(t.Context(), 1)
					if err != nil || len(runs) != 1 || runs[0].JobID != id || !runs[0].AsTold || d.State != store.Succeeded {
						t.Fatalf("%s: %s %+v %v", d.State, d.ErrorLine, runs, err)
					}
					t.Log(runs[0].Verdict)
				}
			})
		})
	}
}

func TestLabCardsWorkAsTheyStand(t *testing.T) {
	t.Parallel()
	keys := map[string]bool{}
	for _, c := range Cards() {
		keys[c.Key] = true
	}
	for _, c := range LabCards() {
		item, err := c.Item(nil, 0)
		if err != nil || item.Args.Kind() != c.Kind || keys[c.Key] || c.Title == "" || c.Story == "" || c.Count < 1 || c.Count > c.MaxCount {
			t.Errorf("card %q is not whole: %+v %v", c.Key, c, err)
		}
		keys[c.Key] = true
	}
}

// Scenarios on one database wait for each other without using a worker.
func TestScenariosTakeTurns(t *testing.T) {
	t.Parallel()
	l := openTestLab(t)
	var ids []int64
	ran, err := l.tables.alone(t.Context(), func() error {
		ids = append(ids, l.enqueue(t, Scenario{Card: "stock"}), l.enqueue(t, Scenario{Card: "stock"}))
		for _, id := range ids {
			if d := l.when(t, id, func(d store.JobDetail) bool { return d.State == store.Scheduled }); d.Cause != store.CauseSnooze {
				t.Errorf("job %d waits because of %v", id, d.Cause)
			}
		}
		return nil
	})
	if err != nil || !ran {
		t.Fatal(ran, err)
	}
	for _, id := range ids {
		if d := l.until(t, id, store.Succeeded, store.Failed); d.State != store.Succeeded {
			t.Errorf("job %d: %s", id, d.ErrorLine)
		}
	}
	unknown := l.enqueue(t, Scenario{Card: "nonsense"})
	if d := l.until(t, unknown, store.Failed, store.Succeeded); !strings.Contains(d.ErrorLine, "card") || d.Attempt != 1 {
		t.Errorf("unknown card: %s", d.ErrorLine)
	}
}

// eventually polls a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	deadline := time.After(20 * time.Second)
	for !ok() {
		select {
		case <-poll.C:
		case <-deadline:
			t.Fatalf("never: %s", what)
		}
	}
}
