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
// settings are name=value: provider (a URL), queue and lease (of others than the
// lab's queue and 2s), and, if it shall stop somewhere, point (as sent,failed) and
// invoices (as 1,2); it then writes "reached <point>" to out for each and waits to be
// killed, or for "go on" in a line of in.
func RunWorker(ctx context.Context, db *jobs.DB, in io.Reader, out io.Writer, log *slog.Logger, settings []string) error {
	cfg, f := LabConfig{Logger: log}, &fault{out: out}
	queue, lease := labQueue, 2*time.Second
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		switch name {
		case "provider":
			cfg.URL = value
		case "point":
			f.points = strings.Split(value, ",")
		case "queue":
			queue = value
		case "lease":
			d, err := time.ParseDuration(value)
			if err != nil {
				return fmt.Errorf("lease: %q must be a duration like 2s", value)
			}
			lease = d
		case "invoices":
			for id := range strings.SplitSeq(value, ",") {
				n, err := strconv.ParseInt(id, 10, 64)
				if err != nil {
					return fmt.Errorf("invoices: %q must be a whole number", id)
				}
				f.invoices = append(f.invoices, n)
			}
		default:
			return fmt.Errorf("unknown setting %q: known are provider, point, invoices, queue, lease", name)
		}
	}
	client, err := jobs.New(db, jobs.Config{
		Workers: 8, Queues: map[string]int{queue: 0}, Name: fmt.Sprintf("scenario worker %d", os.Getpid()),
		Lease: lease, Heartbeat: lease / 5, Sweep: 300 * time.Millisecond, Poll: 200 * time.Millisecond,
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
		f.obey(in)
	}()
	return client.Run(ctx)
}
