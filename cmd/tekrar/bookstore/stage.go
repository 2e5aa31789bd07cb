package bookstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// stage is one run of one scenario.
type stage struct {
	*Lab
	job   *jobs.Job[Scenario]
	queue string // of its jobs and worker processes
}

// invoice is a new number, whose mails nobody else causes.
func (s *stage) invoice(ctx context.Context, script ...Switches) (int64, error) {
	id, err := s.tables.nextInvoice(ctx)
	if err == nil {
		s.provider.Script(recipient(id), script...)
	}
	return id, err
}

// enqueue puts jobs on the queue of the worker processes.
func (s *stage) enqueue(ctx context.Context, args ...jobs.Args) ([]int64, error) {
	items := make([]jobs.Item, len(args))
	for i, a := range args {
		items[i] = jobs.Item{Args: a, Options: []jobs.EnqueueOption{jobs.Queue(s.queue)}}
	}
	made, err := s.client.EnqueueMany(ctx, items)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(made))
	for i, m := range made {
		ids[i] = m.ID
	}
	s.job.Log("enqueued %s as %s", args[0].Kind(), numbers(ids))
	return ids, nil
}

// ended waits until each job has succeeded or failed for good.
func (s *stage) ended(ctx context.Context, ids ...int64) ([]store.JobDetail, error) {
	out := make([]store.JobDetail, len(ids))
	for i, id := range ids {
		for {
			d, err := s.client.DB().Job(ctx, id, 0, 0)
			if err != nil {
				return nil, err
			}
			if out[i] = d; d.State == store.Succeeded || d.State == store.Failed || d.State == store.Deleted {
				break
			}
			if err := pause(ctx, 50*time.Millisecond); err != nil {
				return nil, fmt.Errorf("job %d is still %s at attempt %d: %w", id, d.State, d.Attempt, err)
			}
		}
	}
	return out, nil
}

// through runs jobs in a worker process to their end.
func (s *stage) through(ctx context.Context, args ...jobs.Args) (done []store.JobDetail, err error) {
	w, err := s.worker()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	ids, err := s.enqueue(ctx, args...)
	if err != nil {
		return nil, err
	}
	return s.ended(ctx, ids...)
}

// atOnce runs two jobs for one mail, and lets none of them send before so many of
// them are about to.
func (s *stage) atOnce(ctx context.Context, senders int, m mailing) (done []store.JobDetail, err error) {
	w, err := s.worker("point=claimed", fmt.Sprintf("invoices=%d", m.invoice))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	ids, err := s.enqueue(ctx, m.args, m.args)
	if err != nil {
		return nil, err
	}
	for range senders {
		if err := w.line(ctx, "reached claimed"); err != nil {
			return nil, err
		}
	}
	if err := w.goOn(); err != nil {
		return nil, err
	}
	return s.ended(ctx, ids...)
}

// mailing is the job that mails an invoice.
type mailing struct {
	variant string // in words
	invoice int64
	args    jobs.Args
}

// killed runs jobs in a worker process, kills that process when each has reached the
// point, and lets another process finish.
func (s *stage) killed(ctx context.Context, point string, mails ...mailing) (done []store.JobDetail, err error) {
	ids, err := s.kill(ctx, point, mails...)
	if err != nil {
		return nil, err
	}
	heir, err := s.worker()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, heir.stop()) }()
	return s.ended(ctx, ids...)
}

func (s *stage) kill(ctx context.Context, point string, mails ...mailing) ([]int64, error) {
	var args []jobs.Args
	var invoices []string
	for _, m := range mails {
		args, invoices = append(args, m.args), append(invoices, strconv.FormatInt(m.invoice, 10))
	}
	doomed, err := s.worker("point="+point, "invoices="+strings.Join(invoices, ","))
	if err != nil {
		return nil, err
	}
	defer doomed.kill()
	ids, err := s.enqueue(ctx, args...)
	if err != nil {
		return nil, err
	}
	for range mails {
		if err := doomed.line(ctx, "reached "+point); err != nil {
			return nil, err
		}
	}
	doomed.kill()
	s.job.Log("killed worker process %d at %q", doomed.cmd.Process.Pid, point)
	return ids, nil
}

// process is a worker process.
type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines chan string
	ended chan struct{}
}

func (s *stage) worker(settings ...string) (*process, error) {
	cmd := s.spawn(append([]string{"provider=" + s.url, "queue=" + s.queue}, settings...)...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a worker process: %w", err)
	}
	p := &process{cmd: cmd, stdin: stdin, lines: make(chan string, 10), ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		for in := bufio.NewScanner(stdout); in.Scan(); {
			select {
			case p.lines <- in.Text():
			default: // nobody reads so many
			}
		}
		_ = cmd.Wait()
	}()
	return p, nil
}

// line waits for one.
func (p *process) line(ctx context.Context, want string) error {
	for {
		select {
		case l := <-p.lines:
			if strings.TrimSpace(l) == want {
				return nil
			}
		case <-p.ended:
			return fmt.Errorf("worker process %d ended before it said %q: %v", p.cmd.Process.Pid, want, p.cmd.ProcessState)
		case <-ctx.Done():
			return fmt.Errorf("worker process %d did not say %q: %w", p.cmd.Process.Pid, want, context.Cause(ctx))
		}
	}
}

// kill is a SIGKILL; a second one does nothing.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// goOn lets it leave the point where it stands.
func (p *process) goOn() error {
	_, err := fmt.Fprintln(p.stdin, goOn)
	return err
}

// stop lets it drain.
func (p *process) stop() error {
	_ = p.stdin.Close()
	select {
	case <-p.ended:
	case <-time.After(15 * time.Second):
		p.kill()
		return fmt.Errorf("worker process %d did not end by itself", p.cmd.Process.Pid)
	}
	if !p.cmd.ProcessState.Success() {
		return fmt.Errorf("worker process %d: %v", p.cmd.Process.Pid, p.cmd.ProcessState)
	}
	return nil
}
