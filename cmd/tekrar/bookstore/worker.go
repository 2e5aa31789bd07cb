package bookstore

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tekrar/tekrar/jobs"
)

// RunWorker is a worker process of a scenario: it serves the lab's queue until ctx
// or in ends, and holds its jobs by a short lease, so that its death is noticed soon.
// settings are name=value: provider (a URL), and, if it shall stop for good somewhere,
// point and invoices (as 1,2); it then writes "reached <point>" to out for each and
// waits to be killed.
func RunWorker(ctx context.Context, db *jobs.DB, in io.Reader, out io.Writer, log *slog.Logger, settings []string) error {
	cfg, f := LabConfig{Logger: log}, fault{out: out}
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		switch name {
		case "provider":
			cfg.URL = value
		case "point":
			f.point = value
		case "invoices":
			for id := range strings.SplitSeq(value, ",") {
				n, err := strconv.ParseInt(id, 10, 64)
				if err != nil {
					return fmt.Errorf("invoices: %q must be a whole number", id)
				}
				f.invoices = append(f.invoices, n)
			}
		default:
			return fmt.Errorf("unknown setting %q: known are provider, point, invoices", name)
		}
	}
	client, err := jobs.New(db, jobs.Config{
		Workers: 4, Queues: map[string]int{labQueue: 0}, Name: fmt.Sprintf("scenario worker %d", os.Getpid()),
		Lease: 2 * time.Second, Heartbeat: 400 * time.Millisecond, Sweep: 300 * time.Millisecond, Poll: 200 * time.Millisecond,
		DrainTimeout: 5 * time.Second, Logger: log,
	})
	if err != nil {
		return err
	}
	if _, err := openLab(ctx, client, cfg, f); err != nil {
		return err
	}
	// The end of its input is the end of the program that started it, however it ended.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, in)
	}()
	return client.Run(ctx)
}
