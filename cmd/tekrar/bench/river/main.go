// Command river runs the sub-benches of tekrar bench through River, so that both
// are measured on one server in one run. It is a module of its own: River is no
// dependency of Tekrar.
//
// Usage: river BENCH DSN JOBS WORKERS ARG_BYTES AGED RATE SECONDS
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

type noop struct {
	N    int    `json:"n"`
	Fill string `json:"fill,omitempty"`
}

func (noop) Kind() string { return "noop" }

type worker struct {
	river.WorkerDefaults[noop]
	on func(int)
}

func (w *worker) Work(_ context.Context, j *river.Job[noop]) error { w.on(j.Args.N); return nil }

type bench struct {
	dsn                     string
	pool                    *pgxpool.Pool
	jobs, workers, argBytes int
	aged, rate, seconds     int
}

func main() {
	if len(os.Args) != 9 {
		log.Fatal("usage: river BENCH DSN JOBS WORKERS ARG_BYTES AGED RATE SECONDS")
	}
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, name, dsn string, numbers []string) error {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return err
	}
	cfg.MaxConns = 20
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer pool.Close()
	b := &bench{pool: pool, dsn: dsn}
	for i, to := range []*int{&b.jobs, &b.workers, &b.argBytes, &b.aged, &b.rate, &b.seconds} {
		if *to, err = strconv.Atoi(numbers[i]); err != nil {
			return err
		}
	}
	if name == workerBench {
		return b.work(ctx)
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	sub, ok := map[string]func(context.Context) error{
		"enqueue-bulk": b.enqueueBulk, "enqueue-single": b.enqueueSingle,
		"drain": b.drain, "latency": b.latency, "bytes": b.bytes,
		"held": b.held, "procs": b.procs, "aged": b.old, "steady": b.steady, "steady-aged": b.steadyAged,
	}[name]
	if !ok {
		return nil // a sub-bench without a counterpart
	}
	return sub(ctx)
}

func figure(bench, name, unit string, value float64) {
	line, _ := json.Marshal(map[string]any{"bench": bench, "figure": name, "value": value, "unit": unit})
	fmt.Println(string(line))
}

// used says what of the processor this process has used so far: once before the work
// of a figure and once after it.
func used(bench, name string) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err == nil {
		figure(bench, name, "us so far", float64(u.Utime.Nano()+u.Stime.Nano())/1000)
	}
}

// client is tuned: it fetches as soon and as much as it can.
func (b *bench) client(workers int, on func(int)) (*river.Client[pgx.Tx], error) {
	set := river.NewWorkers()
	river.AddWorker(set, &worker{on: on})
	return river.NewClient(riverpgxv5.New(b.pool), &river.Config{
		Workers: set, FetchCooldown: time.Millisecond, FetchPollInterval: 50 * time.Millisecond,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workers}},
		Logger: slog.New(slog.DiscardHandler),
	})
}

func (b *bench) args(n int) noop { return noop{N: n, Fill: strings.Repeat("x", b.argBytes)} }

func (b *bench) fill(ctx context.Context, c *river.Client[pgx.Tx], n int) error {
	for done := 0; done < n; {
		params := make([]river.InsertManyParams, min(1000, n-done))
		for i := range params {
			params[i] = river.InsertManyParams{Args: b.args(done + i)}
		}
		if _, err := c.InsertManyFast(ctx, params); err != nil {
			return err
		}
		done += len(params)
	}
	return nil
}

func (b *bench) enqueueBulk(ctx context.Context) error {
	c, err := b.client(1, func(int) {})
	if err != nil {
		return err
	}
	if err := b.fill(ctx, c, 1000); err != nil {
		return err
	}
	began := time.Now()
	if err := b.fill(ctx, c, b.jobs); err != nil {
		return err
	}
	figure("enqueue-bulk", "rate", "jobs/s", float64(b.jobs)/time.Since(began).Seconds())
	return nil
}

func (b *bench) enqueueSingle(ctx context.Context) error {
	c, err := b.client(1, func(int) {})
	if err != nil {
		return err
	}
	for _, callers := range []int{8, 64} {
		n := b.jobs / 5
		var next atomic.Int64
		var all sync.WaitGroup
		began := time.Now()
		for range callers {
			all.Go(func() {
				for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
					if _, err := c.Insert(ctx, b.args(i), nil); err != nil {
						log.Fatal(err)
					}
				}
			})
		}
		all.Wait()
		figure("enqueue-single", fmt.Sprintf("rate_%d_callers", callers), "jobs/s", float64(n)/time.Since(began).Seconds())
	}
	return nil
}

func (b *bench) drainOnce(ctx context.Context, workers int) (float64, error) {
	return b.drained(ctx, workers, func() {})
}

// drained calls mark before and after the drain.
func (b *bench) drained(ctx context.Context, workers int, mark func()) (float64, error) {
	var ran atomic.Int64
	all := make(chan struct{})
	c, err := b.client(workers, func(int) {
		if ran.Add(1) == int64(b.jobs) {
			close(all)
		}
	})
	if err != nil {
		return 0, err
	}
	if err := b.fill(ctx, c, b.jobs); err != nil {
		return 0, err
	}
	mark()
	began := time.Now()
	if err := c.Start(ctx); err != nil {
		return 0, err
	}
	<-all
	if err := b.settledAll(ctx); err != nil {
		return 0, err
	}
	rate := float64(b.jobs) / time.Since(began).Seconds()
	mark()
	return rate, c.Stop(ctx)
}

// settledAll waits until no job is available or running.
func (b *bench) settledAll(ctx context.Context) error {
	for left := true; left; time.Sleep(10 * time.Millisecond) {
		if err := b.pool.QueryRow(ctx, `select exists (select 1 from river_job where state in ('available', 'running'))`).Scan(&left); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) drain(ctx context.Context) error {
	for _, workers := range []int{b.workers, 100} {
		rate, err := b.drained(ctx, workers, func() { used("drain", fmt.Sprintf("cpu_%d_workers", workers)) })
		if err != nil {
			return err
		}
		figure("drain", fmt.Sprintf("rate_%d_workers", workers), "jobs/s", rate)
	}
	return nil
}

func (b *bench) latency(ctx context.Context) error {
	const n, first = 1000, 100
	started := make(chan struct{}, first+n)
	times, called := make([]time.Time, first+n), make([]time.Time, first+n)
	c, err := b.client(10, func(i int) { times[i] = time.Now(); started <- struct{}{} })
	if err != nil {
		return err
	}
	if err := c.Start(ctx); err != nil {
		return err
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for i := range first + n {
		<-tick.C
		called[i] = time.Now()
		if _, err := c.Insert(ctx, b.args(i), nil); err != nil {
			return err
		}
	}
	var waits []time.Duration
	for range first + n {
		<-started
	}
	for i := first; i < first+n; i++ {
		waits = append(waits, times[i].Sub(called[i]))
	}
	quantiles("latency", waits)
	return c.Stop(ctx)
}

func quantiles(bench string, waits []time.Duration) {
	slices.Sort(waits)
	for name, at := range map[string]float64{"p50": .50, "p95": .95, "p99": .99} {
		figure(bench, "enqueue_to_start_"+name, "ms", float64(waits[int(at*float64(len(waits)-1))].Microseconds())/1000)
	}
}

func (b *bench) bytes(ctx context.Context) error {
	log := func() (n int64, err error) {
		return n, b.pool.QueryRow(ctx, `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint`).Scan(&n)
	}
	before, err := log()
	if err != nil {
		return err
	}
	if _, err := b.drainOnce(ctx, b.workers); err != nil {
		return err
	}
	after, err := log()
	if err != nil {
		return err
	}
	var size int64
	if err := b.pool.QueryRow(ctx, `select sum(pg_total_relation_size(c.oid))::bigint from pg_class c
join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'public' and c.relkind = 'r'`).Scan(&size); err != nil {
		return err
	}
	figure("bytes", "log", "bytes/job", float64(after-before)/float64(b.jobs))
	figure("bytes", "disk", "bytes/job", float64(size)/float64(b.jobs))
	return nil
}
