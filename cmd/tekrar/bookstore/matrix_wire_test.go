package bookstore

import (
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
)

func (tr *trial) providerAddr() string {
	u, err := url.Parse(tr.url)
	if err != nil {
		tr.Fatal(err)
	}
	return u.Host
}

// forward passes the connections that lets lets through, until l is closed.
func forward(l net.Listener, to string, lets func(net.Conn) bool) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer client.Close()
			if !lets(client) {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				return
			}
			defer server.Close()
			go func() {
				_, _ = io.Copy(server, client)
				_ = server.Close()
			}()
			_, _ = io.Copy(client, server)
		}()
	}
}

// dbProxy stands between the row's worker process and Postgres.
type dbProxy struct {
	socket     string
	losesMarks atomic.Bool // the answer to the first mark of each receipt is lost with its connection
	lost       atomic.Int64

	mu     sync.Mutex
	isDown bool
	open   map[net.Conn]bool
	marked map[string]bool
}

// throughProxy leads the row's worker processes through a proxy.
func (tr *trial) throughProxy() *dbProxy {
	tr.Helper()
	_, dir, _ := strings.Cut(tr.lab.dsn, "host='")
	dir, _, _ = strings.Cut(dir, "'")
	own, err := os.MkdirTemp("", "proxy")
	if err != nil {
		tr.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(own, ".s.PGSQL.5432"))
	if err != nil {
		tr.Fatal(err)
	}
	p := &dbProxy{socket: filepath.Join(dir, ".s.PGSQL.5432"), open: map[net.Conn]bool{}, marked: map[string]bool{}}
	go p.serve(l)
	tr.Cleanup(func() { l.Close(); p.down(); os.RemoveAll(own) })
	spawn, dsn := tr.spawn, strings.Replace(tr.lab.dsn, dir, own, 1)
	tr.spawn = func(settings ...string) *exec.Cmd {
		cmd := spawn(settings...)
		cmd.Env = append(cmd.Env, workerDSN+"="+dsn)
		return cmd
	}
	return p
}

func (p *dbProxy) serve(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		go p.pass(client)
	}
}

func (p *dbProxy) down() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isDown = true
	for c := range p.open {
		c.Close()
	}
}

func (p *dbProxy) up() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isDown = false
}

func (p *dbProxy) enter(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[c] = !p.isDown
	return !p.isDown
}

func (p *dbProxy) pass(client net.Conn) {
	defer func() {
		client.Close()
		p.mu.Lock()
		delete(p.open, client)
		p.mu.Unlock()
	}()
	if !p.enter(client) {
		return
	}
	server, err := net.Dial("unix", p.socket)
	if err != nil {
		return
	}
	defer server.Close()
	var cut atomic.Bool
	go func() {
		defer server.Close()
		relay(server, client, func(b []byte) bool {
			if p.losesMarks.Load() && p.firstMark(b) {
				cut.Store(true)
			}
			return true
		})
	}()
	relay(client, server, func([]byte) bool {
		if cut.Load() { // the server has done the work
			p.lost.Add(1)
			return false
		}
		return true
	})
}

// receipt is how a mark is told from other statements.
var receipt = regexp.MustCompile(`"reference":"[^"]+"`)

func (p *dbProxy) firstMark(b []byte) bool {
	r := string(receipt.Find(b))
	p.mu.Lock()
	defer p.mu.Unlock()
	if r == "" || p.marked[r] {
		return false
	}
	p.marked[r] = true
	return true
}

func relay(to, from net.Conn, lets func([]byte) bool) {
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if err != nil || !lets(b[:n]) {
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}
