package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

const (
	workingAfter = time.Second // what is done sooner needs no bar
	workingEvery = 200 * time.Millisecond
)

// working shows on a terminal how far something has come that takes long: a bar when
// done tells how much of total, else a sign of life. stop takes the bar away and
// leaves one line that says what was done. What ends within a second leaves nothing,
// and no byte reaches a stderr that is no terminal. One is shown at a time. done is
// called from another goroutine, until stop returns.
func (p *program) working(what string, total int64, done func() int64) (stop func()) {
	if !p.atTerminal(p.stderr) || p.getenv("TERM") == "dumb" {
		return func() {}
	}
	if total <= 0 || done == nil {
		total, done = -1, func() int64 { return 0 }
	}
	b := &bar{out: p.stderr, what: plain(what), total: total, began: time.Now()}
	p.bar.Store(b)
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(workingEvery)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				if time.Since(b.began) >= workingAfter {
					b.draw(min(done(), b.most()))
				}
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(end)
		<-ended
		p.bar.CompareAndSwap(b, nil)
		b.finish(min(done(), b.most()))
	})
}

// quietly is working, or nothing for a program that reads JSON.
func (p *program) quietly(asJSON bool) func(string, int64, func() int64) (stop func()) {
	if asJSON {
		return func(string, int64, func() int64) func() { return func() {} }
	}
	return p.working
}

// bar is one line of a terminal.
type bar struct {
	out   io.Writer
	what  string
	total int64 // -1: not known
	began time.Time

	mu    sync.Mutex
	drawn *progressbar.ProgressBar // nil: not on the screen yet
}

func (b *bar) most() int64 { return max(b.total, 0) }

func (b *bar) took() time.Duration { return time.Since(b.began).Round(time.Second) }

// draw writes no colours. The characters are ASCII: not every terminal has others.
func (b *bar) draw(done int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.drawn == nil {
		b.drawn = progressbar.NewOptions64(b.total,
			progressbar.OptionSetWriter(b.out),
			progressbar.OptionSetWidth(30),
			progressbar.OptionSetTheme(progressbar.Theme{Saucer: "=", SaucerHead: ">", SaucerPadding: " ", BarStart: "[", BarEnd: "]"}),
			progressbar.OptionSpinnerType(9), // | / - \
			progressbar.OptionSetSpinnerChangeInterval(0),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionUseANSICodes(true),
			progressbar.OptionSetRenderBlankState(false))
	}
	line := fmt.Sprintf("%s: %s", b.what, b.took())
	if done > 0 {
		left := time.Duration(float64(time.Since(b.began)) / float64(done) * float64(b.total-done))
		line = fmt.Sprintf("%s: %d of %d, %s left", b.what, done, b.total, left.Round(time.Second))
	}
	// A bar that is full writes no more: the last step is left to finish.
	if b.total > 0 {
		done = min(done, b.total-1)
	}
	_ = b.drawn.Set64(done)
	b.drawn.Describe(line)
}

// clear takes the line away; the next draw brings it back.
func (b *bar) clear() {
	if b.drawn != nil {
		fmt.Fprint(b.out, "\r\x1b[2K")
	}
}

func (b *bar) finish(done int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear()
	switch {
	case b.drawn == nil:
	case b.total > 0:
		fmt.Fprintf(b.out, "%s: %d of %d in %s\n", b.what, done, b.total, b.took())
	default:
		fmt.Fprintf(b.out, "%s: %s\n", b.what, b.took())
	}
}

// beside is a stream for what is written while a bar may be on the screen.
func (p *program) beside(w io.Writer) io.Writer { return besideBar{p, w} }

type besideBar struct {
	p *program
	w io.Writer
}

func (s besideBar) Write(text []byte) (int, error) {
	if b := s.p.bar.Load(); b != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.clear()
	}
	return s.w.Write(text)
}

// leave makes the terminal clean for the shell when the program ends at once.
func (p *program) leave() {
	if b := p.bar.Load(); b != nil {
		b.mu.Lock() // for good: nothing is drawn any more
		b.clear()
	}
}
