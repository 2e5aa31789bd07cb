package store

import "sync"

// hotPools are the sessions of the hot statements. Each role has connections of
// its own, so that neither a slow page nor a handler that hogs its own pool can
// keep a finished job or a heartbeat waiting.
type hotPools struct {
	enqueueOnce, claimOnce, scanOnce, settleOnce, beatOnce, effectOnce, fireOnce sync.Once
	enqueue, claim, scan, settle, beat, effect, fire                             *sessions
}

func (db *DB) open(once *sync.Once, to **sessions, n int) *sessions {
	once.Do(func() {
		*to = newSessions(db.openPool(n), n, db.local)
		db.mu.Lock()
		defer db.mu.Unlock()
		if db.closed {
			(*to).close()
		}
		db.sessions = append(db.sessions, *to)
	})
	return *to
}

func (db *DB) enqueuers() *sessions { return db.open(&db.hot.enqueueOnce, &db.hot.enqueue, 2) }

// claimers also promote due jobs.
func (db *DB) claimers() *sessions { return db.open(&db.hot.claimOnce, &db.hot.claim, 2) }

// scanners look where claims have to begin, which may take long.
func (db *DB) scanners() *sessions { return db.open(&db.hot.scanOnce, &db.hot.scan, 1) }
func (db *DB) settlers() *sessions { return db.open(&db.hot.settleOnce, &db.hot.settle, 1) }

// beaters renew leases, look for taken jobs and notify.
func (db *DB) beaters() *sessions { return db.open(&db.hot.beatOnce, &db.hot.beat, 1) }

// firers fire recurring jobs and look schedules up: whatever holds that table locked
// keeps neither claims nor promotions waiting.
func (db *DB) firers() *sessions { return db.open(&db.hot.fireOnce, &db.hot.fire, 1) }

// effecters write effect claims for handlers; they are opened as handlers need them.
func (db *DB) effecters() *sessions { return db.open(&db.hot.effectOnce, &db.hot.effect, effectConns) }

// effectConns: each mark waits for a commit of its own, which only several at once can share.
const effectConns = 8
