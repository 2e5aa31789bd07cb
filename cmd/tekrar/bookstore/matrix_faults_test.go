package bookstore

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/tekrar/tekrar/store"
)

// through runs the jobs in a worker process to their end.
func through(tr *trial) error {
	w, err := tr.start(patient)
	if err != nil {
		return err
	}
	if err := tr.send(); err != nil {
		return err
	}
	return tr.finish(w)
}

// stopped is a worker whose mails all stand at the point.
func stopped(tr *trial, point string, settings ...string) (*process, error) {
	w, err := tr.start(append(tr.at(point), settings...)...)
	if err != nil {
		return nil, err
	}
	if err := tr.send(); err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(point, ",")
	return w, tr.reached(w, first, len(policies))
}

func killedAt(point string) func(*trial) error {
	return func(tr *trial) error {
		doomed, err := stopped(tr, point)
		if err != nil {
			return err
		}
		doomed.kill()
		heir, err := tr.start(patient)
		if err != nil {
			return err
		}
		return tr.finish(heir)
	}
}

// killedEachTime: the loss limit ends what would go on for ever.
func killedEachTime(tr *trial) error {
	const lossLimit = 3 // the engine's default
	for n := range lossLimit + 1 {
		doomed, err := tr.start(tr.at("sent")...)
		if err != nil {
			return err
		}
		mails := len(policies)
		if n == 0 {
			err = tr.send()
		} else {
			mails-- // the one on hold is sent no more
		}
		if err != nil {
			return err
		}
		if err := tr.reached(doomed, "sent", mails); err != nil {
			return err
		}
		if n == 1 {
			if _, err := tr.ended(tr.ctx, tr.ids[1]); err != nil { // it was held
				return err
			}
		}
		doomed.kill()
	}
	var err error
	if tr.done, err = tr.ended(tr.ctx, tr.ids...); err != nil { // this process notices the last loss
		return err
	}
	if n := tr.provider.Replays(recipient(tr.invoices[0])); n != lossLimit || tr.done[0].Attempt != lossLimit+1 {
		return fmt.Errorf("%d replays in %d attempts", n, tr.done[0].Attempt)
	}
	_, err = tr.claims.Sweep(tr.ctx)
	return err
}

// pausedAt lets a process stand still (SIGSTOP) until its jobs have been finished by
// another one, and then go on with what it was about to do.
func pausedAt(point string) func(*trial) error {
	return func(tr *trial) error {
		frozen, err := stopped(tr, point)
		if err != nil {
			return err
		}
		if err := frozen.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		heir, err := tr.start(patient)
		if err != nil {
			return err
		}
		if err := tr.finish(heir); err != nil {
			return err
		}
		if err := frozen.goOn(); err != nil {
			return err
		}
		if err := frozen.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			return err
		}
		if err := frozen.stop(); err != nil {
			return err
		}
		if point == "claimed" {
			return nil
		}
		resend, err := tr.lab.db.Effect(tr.ctx, fmt.Sprintf("invoice-email:%d", tr.invoices[2]))
		if err == nil && resend.Duplicates != 1 {
			err = fmt.Errorf("two mails went out and %d duplicates are counted", resend.Duplicates)
		}
		return err
	}
}

// refusedFirst: nobody listens at the provider's port until each has tried once.
func refusedFirst(tr *trial) error {
	// A bound socket that does not listen refuses, and nobody else can take its port.
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), "provider")
	defer file.Close()
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		return err
	}
	return tr.behind(at.(*syscall.SockaddrInet4).Port, func() (net.Listener, error) {
		if err := syscall.Listen(fd, 16); err != nil {
			return nil, err
		}
		return net.FileListener(file)
	}, func(net.Conn) bool { return true })
}

// swallowedFirst: what is sent before each has tried once vanishes on the way.
func swallowedFirst(tr *trial) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	lets := make(chan struct{})
	go forward(l, tr.providerAddr(), func(c net.Conn) bool {
		select {
		case <-lets:
			return true
		default:
			_, _ = io.Copy(io.Discard, c)
			return false
		}
	})
	return tr.behind(l.Addr().(*net.TCPAddr).Port, func() (net.Listener, error) { close(lets); return nil, nil }, nil)
}

// behind runs the jobs against a provider behind another port, which opens when each
// has tried once.
func (tr *trial) behind(port int, open func() (net.Listener, error), lets func(net.Conn) bool) error {
	w, err := tr.start(patient, fmt.Sprintf("provider=http://127.0.0.1:%d%s", port, ProviderPath))
	if err != nil {
		return err
	}
	if err := tr.send(); err != nil {
		return err
	}
	for _, id := range tr.ids {
		if err := tr.tried(id); err != nil {
			return err
		}
	}
	l, err := open()
	if err != nil {
		return err
	}
	if l != nil {
		defer l.Close()
		go forward(l, tr.providerAddr(), lets)
	}
	return tr.finish(w)
}

// tried waits until the first attempt of a job is over.
func (tr *trial) tried(id int64) error {
	for {
		d, err := tr.lab.db.Job(tr.ctx, id, 0, 0)
		if err != nil || d.Attempt > 1 || d.State == store.Scheduled || d.State == store.Failed {
			return err
		}
		if err := pause(tr.ctx, 20*time.Millisecond); err != nil {
			return fmt.Errorf("job %d is still %s: %w", id, d.State, err)
		}
	}
}

func unanswered(tr *trial) error {
	tr.script(Switches{Silent: true})
	return through(tr)
}

// keyExpired: the retry comes when the provider, whose answer was lost, has forgotten
// the key and would deliver again.
func keyExpired(tr *trial) error {
	tr.script(Switches{Silent: true}, Switches{KeyLife: 1})
	w, err := stopped(tr, "failed", patient)
	if err != nil {
		return err
	}
	for _, id := range tr.invoices {
		found, err := tr.tables.changed(tr.ctx, `update tekrar.effect_claims set effect_at = effect_at - interval '25 h' where key = $1`, fmt.Sprintf("invoice-email:%d", id))
		if err != nil || !found {
			return fmt.Errorf("age the claim of %d: %v %w", id, found, err)
		}
	}
	if err := w.goOn(); err != nil {
		return err
	}
	return tr.finish(w)
}

// twoJobs: the second finds the key busy, waits without a retry, and gets the receipt.
func twoJobs(tr *trial) error {
	w, err := stopped(tr, "claimed") // with a short lease: until it ends the second waits
	if err != nil {
		return err
	}
	if err := tr.send(); err != nil {
		return err
	}
	for _, id := range tr.ids[len(policies):] {
		if err := tr.tried(id); err != nil {
			return err
		}
	}
	if err := w.goOn(); err != nil {
		return err
	}
	if err := tr.finish(w); err != nil {
		return err
	}
	for _, d := range tr.done[len(policies):] {
		if d.State != store.Succeeded || d.Retry != 0 || d.Attempt < 2 {
			return fmt.Errorf("second job %d: %s at attempt %d after %d retries", d.ID, d.State, d.Attempt, d.Retry)
		}
	}
	return nil
}

// databaseDown: the mail is out, the mark fails, and the process tries it again until
// the database is back.
func databaseDown(tr *trial) error {
	p := tr.throughProxy()
	w, err := stopped(tr, "sent,failed", patient)
	if err != nil {
		return err
	}
	p.down()
	if err := w.goOn(); err != nil {
		return err
	}
	if err := tr.reached(w, "failed", len(policies)); err != nil {
		return err
	}
	p.up()
	if err := w.goOn(); err != nil {
		return err
	}
	if err := tr.finish(w); err != nil {
		return err
	}
	return tr.atFirstAttempt()
}

// commitLost: the mark is committed, and the connection breaks before it is told.
func commitLost(tr *trial) error {
	p := tr.throughProxy()
	p.losesMarks.Store(true)
	if err := through(tr); err != nil {
		return err
	}
	if n := p.lost.Load(); int(n) != len(policies) {
		return fmt.Errorf("%d answers were lost, want one for each mail", n)
	}
	return tr.atFirstAttempt()
}

func (tr *trial) atFirstAttempt() error {
	for i, d := range tr.done {
		if d.Attempt != 1 {
			return fmt.Errorf("%s: ended at attempt %d, want the mark tried again within the first", policies[i], d.Attempt)
		}
	}
	return context.Cause(tr.ctx)
}
