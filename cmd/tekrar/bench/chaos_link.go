package bench

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// weather is what a link does to the traffic between one process and Postgres.
type weather int

const (
	fair   weather = iota
	cut            // connections end, new ones end at once
	stall          // bytes are held, as by a network that drops packets; they arrive later
	slow           // each packet comes late
	lossy          // now and then an answer is lost and its connection ends
	halved         // answers end, while Postgres is not told that its client is gone
)

// link is a proxy of one process: a socket in a folder of its own.
type link struct {
	net.Listener
	dir      string
	upstream string // socket of Postgres

	mu      sync.Mutex
	weather weather
	changed chan struct{} // closed by the next change
	open    map[net.Conn]bool
	serving sync.WaitGroup
}

const socketName = ".s.PGSQL.5432"

func newLink(dir, dsn string) (*link, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	l, err := net.Listen("unix", filepath.Join(dir, socketName))
	if err != nil {
		return nil, err
	}
	_, host, _ := strings.Cut(dsn, "host='")
	host, _, _ = strings.Cut(host, "'")
	k := &link{Listener: l, dir: dir, upstream: filepath.Join(host, socketName),
		changed: make(chan struct{}), open: map[net.Conn]bool{}}
	k.serving.Go(k.accept)
	return k, nil
}

// dsn is the address of a database of the server, through the link.
func (k *link) dsn(direct string) string { return direct + " host='" + k.dir + "'" }

func (k *link) close() error {
	err := k.Close()
	k.set(cut)
	k.serving.Wait()
	if rm := os.RemoveAll(k.dir); err == nil && !errors.Is(rm, fs.ErrNotExist) {
		err = rm
	}
	return err
}

// set changes the weather; a cut ends what is open.
func (k *link) set(w weather) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.weather = w
	close(k.changed)
	k.changed = make(chan struct{})
	if w == cut {
		for c := range k.open {
			c.Close()
		}
	}
}

func (k *link) now() (weather, <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.weather, k.changed
}

func (k *link) accept() {
	for {
		client, err := k.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", k.upstream)
		if err != nil || !k.keep(client, server) {
			client.Close()
			if err == nil {
				server.Close()
			}
			continue
		}
		k.serving.Go(func() { k.requests(server, client) })
		k.serving.Go(func() { k.answers(client, server) })
	}
}

// keep refuses connections while the link is cut.
func (k *link) keep(conns ...net.Conn) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.weather == cut {
		return false
	}
	for _, c := range conns {
		k.open[c] = true
	}
	return true
}

func (k *link) drop(c net.Conn) {
	c.Close()
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.open, c)
}

func (k *link) requests(server, client net.Conn) {
	defer k.drop(server)
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if err != nil {
			k.outlive(halved)
			return
		}
		k.hold()
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (k *link) answers(client, server net.Conn) {
	defer k.drop(client)
	buf := make([]byte, 64<<10)
	for {
		n, err := server.Read(buf)
		if err != nil {
			return
		}
		switch k.hold() {
		case lossy:
			if rand.IntN(20) == 0 {
				return
			}
		case halved:
			client.Close()
			k.outlive(halved)
			return
		}
		if _, err := client.Write(buf[:n]); err != nil {
			return
		}
	}
}

// hold waits as the weather asks and says what it is then.
func (k *link) hold() weather {
	for {
		w, changed := k.now()
		switch w {
		case stall:
			<-changed
			continue
		case slow:
			time.Sleep(time.Duration(rand.Int64N(int64(60 * time.Millisecond))))
		}
		return w
	}
}

// outlive returns when the weather is no longer w.
func (k *link) outlive(w weather) {
	for {
		is, changed := k.now()
		if is != w {
			return
		}
		<-changed
	}
}
