package storetest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"time"
)

// parkedName is what pg_stat_activity calls a backend that waits for its next user.
const parkedName = "storetest parked"

// patience ends what a stopped server would keep waiting.
const patience = 5 * time.Second

var errUnfit = errors.New("the session is not as it should be")

// backend is a server process and how it greets.
type backend struct {
	net.Conn
	startup string  // what its first client sent, its database and user among it
	hello   []byte  // the answer, up to the first time that it was ready
	key     string  // that cancels its statements: process and secret
	heard   scanner // of all its answers
}

// sleep makes the session forget all that was done to it: transaction, settings,
// locks, prepared statements, temporary tables, channels it listens to.
func (b *backend) sleep() error {
	return b.expect([]string{"ROLLBACK", "DISCARD ALL", "SET"}, "rollback", "discard all", "set application_name = '"+parkedName+"'")
}

// wake fails if the backend has ended or if a new one would differ: what is set for a
// database or a role counts for new sessions only.
func (b *backend) wake() error {
	return b.expect([]string{"RESET", "t", "SELECT 1"}, `reset application_name; select not exists (select from pg_db_role_setting
		where setdatabase in (0, (select oid from pg_database where datname = current_database())))`)
}

func (b *backend) expect(want []string, queries ...string) error {
	got, err := b.ask(queries...)
	if err == nil && !slices.Equal(got, want) {
		err = errUnfit
	}
	return err
}

// ask runs queries and returns their values and tags.
func (b *backend) ask(queries ...string) (answer []string, err error) {
	if err := b.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	var out []byte
	for _, q := range queries {
		out = append(out, 'Q')
		out = binary.BigEndian.AppendUint32(out, uint32(4+len(q)+1))
		out = append(append(out, q...), 0)
	}
	if _, err := b.Write(out); err != nil {
		return nil, err
	}
	for ready := 0; ready < len(queries); {
		kind, body, err := readMessage(b.Conn)
		if err != nil {
			return nil, err
		}
		switch kind {
		case 'C':
			answer = append(answer, string(bytes.TrimSuffix(body, []byte{0})))
		case 'D': // one column: its number and the length of the value come first
			answer = append(answer, string(body[min(6, len(body)):]))
		case 'Z':
			ready++
		case 'A', 'N', 'S', 'T':
		default:
			return nil, errUnfit
		}
	}
	return answer, b.SetDeadline(time.Time{})
}

func readMessage(r io.Reader) (kind byte, body []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	body = make([]byte, binary.BigEndian.Uint32(head[1:])-4)
	_, err = io.ReadFull(r, body)
	return head[0], body, err
}

// hear learns from what the server says: until it is ready first, that is its greeting.
func (b *backend) hear(p []byte) {
	b.heard.read(p)
	if b.key != "" {
		return
	}
	b.hello = append(b.hello, p...)
	for in := bytes.NewReader(b.hello); b.heard.idle() && in.Len() > 0; {
		kind, body, err := readMessage(in)
		if err != nil {
			return
		}
		if kind == 'K' {
			b.key = string(body)
		}
	}
}

// greeting is the hello with another key.
func (b *backend) greeting(key string) []byte {
	return bytes.Replace(b.hello, []byte(b.key), []byte(key), 1)
}

// database is what the startup message names.
func (b *backend) database() string {
	fields := strings.Split(b.startup[8:], "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i] == "database" {
			return fields[i+1]
		}
	}
	return ""
}

// scanner follows the answers of a server: is it ready for a query?
type scanner struct {
	head  []byte // kind and length of the message that has begun
	left  int    // bytes of it to come after these
	ready bool   // nothing was asked since it said so
}

func (s *scanner) read(p []byte) {
	for len(p) > 0 {
		if len(s.head) < 5 {
			s.head, p = append(s.head, p[0]), p[1:]
			if len(s.head) == 5 {
				s.left = int(binary.BigEndian.Uint32(s.head[1:])) - 4
			}
		} else {
			s.ready = s.ready || s.head[0] == 'Z'
			n := min(s.left, len(p))
			s.left, p = s.left-n, p[n:]
		}
		if len(s.head) == 5 && s.left == 0 {
			s.head = s.head[:0]
		}
	}
}

// idle reports that it is ready and no message has come by half.
func (s *scanner) idle() bool { return s.ready && len(s.head) == 0 }
