package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/jmoiron/sqlx/reflectx"
)

// session is one pinned connection with statements prepared once: unprepared,
// the hot statements cost twice the CPU on lib/pq. A session is used by one
// goroutine at a time. database/sql never re-runs a statement of a pinned
// connection elsewhere, so an autocommit write here runs at most once.
type session struct {
	pool  *sql.DB
	local string // through a pooler: see pooled.go
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	used  time.Time
}

// idleTrust is how long an unused connection is taken to be alive. After that it
// is asked first: a server that restarted meanwhile would else leave the next
// statement's outcome unknown.
const idleTrust = 5 * time.Second

// query runs a prepared statement and hands its rows to scan. Any error that is
// not the statement's own drops the connection: its state is unknown.
func (s *session) query(ctx context.Context, text string, scan func(*sql.Rows) error, args ...any) error {
	err := s.run(ctx, text, scan, args...)
	if err != nil && !IsData(err) {
		s.close()
	}
	return err
}

func (s *session) run(ctx context.Context, text string, scan func(*sql.Rows) error, args ...any) (err error) {
	defer func() { s.used = time.Now() }()
	if err := s.connect(ctx); err != nil {
		return err
	}
	if s.local != "" {
		return s.runPooled(ctx, text, scan, args...)
	}
	stmt := s.stmts[text]
	if stmt == nil {
		if stmt, err = s.conn.PrepareContext(ctx, text); err != nil {
			return err
		}
		s.stmts[text] = stmt
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	if err := scanAll(rows, scan); err != nil {
		return err
	}
	return answered(ctx)
}

func scanAll(rows *sql.Rows, scan func(*sql.Rows) error) (err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// connect makes sure that there is a connection that seems to be alive.
func (s *session) connect(ctx context.Context) (err error) {
	if s.conn != nil && time.Since(s.used) > idleTrust && s.conn.PingContext(ctx) != nil {
		s.close()
	}
	if s.conn == nil {
		if s.conn, err = s.pool.Conn(ctx); err != nil {
			return err
		}
		s.stmts = map[string]*sql.Stmt{}
	}
	return nil
}

// tx runs fn in a read committed transaction on the session's connection and
// commits when fn returns nil.
func (s *session) tx(ctx context.Context, m *reflectx.Mapper, fn func(*sqlx.Tx) error) (err error) {
	defer func() {
		s.used = time.Now()
		if err != nil && !IsData(err) {
			s.close()
		}
	}()
	if err := s.connect(ctx); err != nil {
		return err
	}
	tx, err := s.conn.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	defer tx.Rollback() // no-op after a commit; also runs when fn panics
	if _, err := tx.ExecContext(ctx, asDefault); err != nil {
		return err
	}
	if err := fn(&sqlx.Tx{Tx: tx, Mapper: m}); err != nil {
		return err
	}
	return commitError(ctx, tx.Commit())
}

// close gives the connection back; a broken one is discarded by the pool.
func (s *session) close() {
	if s.conn == nil {
		return
	}
	_ = s.conn.Raw(func(any) error { return errDiscard })
	_ = s.conn.Close()
	s.conn, s.stmts = nil, nil
}

// sessions hands out up to n sessions of one pool, the one that was used last first:
// its server process is awake, and what it needs is in the processor's cache. Taking
// turns made a short statement cost twice as much.
type sessions struct {
	places chan struct{} // one for each session that is free
	mu     sync.Mutex
	free   []*session
	closed bool
}

func newSessions(pool *sql.DB, n int, local string) *sessions {
	s := &sessions{places: make(chan struct{}, n)}
	for range n {
		s.giveBack(&session{pool: pool, local: local})
	}
	return s
}

// with runs fn on a free session, waiting for one no longer than ctx allows.
func (s *sessions) with(ctx context.Context, fn func(*session) error) error {
	select {
	case <-s.places:
		one := s.take()
		defer s.giveBack(one)
		return fn(one)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *sessions) take() *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.free) - 1
	one := s.free[last]
	s.free = s.free[:last]
	return one
}

func (s *sessions) giveBack(one *session) {
	s.mu.Lock()
	if s.closed {
		one.close()
	}
	s.free = append(s.free, one)
	s.mu.Unlock()
	s.places <- struct{}{}
}

// close ends the connections that are free now, the others as they come back: a
// pool that is closed keeps the connections that are pinned.
func (s *sessions) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, one := range s.free {
		one.close()
	}
}
