package bench

import (
	"sync"
	"time"
)

// ledger is what the enqueuers were told, kept outside of the database. Jobs go by
// the number in their args: ids of jobs that were never there may come again.
type ledger struct {
	mu         sync.Mutex
	last       int64
	promised   map[int64]int64 // acknowledged: number to id
	refused    map[int64]bool  // rolled back, or a duplicate: must not be there
	unknown    map[int64]bool  // no answer: may be there, once
	key        map[int64]string
	duplicates map[int64]bool // ids that were named as holders of a key
}

func newLedger() *ledger {
	return &ledger{promised: map[int64]int64{}, refused: map[int64]bool{}, unknown: map[int64]bool{},
		key: map[int64]string{}, duplicates: map[int64]bool{}}
}

func (l *ledger) next() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	return l.last
}

func (l *ledger) holds(n int64, key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.key[n] = key
}

func (l *ledger) promise(n, id int64, duplicate bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if duplicate {
		l.refused[n], l.duplicates[id] = true, true
		return
	}
	l.promised[n] = id
}

func (l *ledger) refuse(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused[n] = true
}

func (l *ledger) doubt(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unknown[n] = true
}

// span is a stretch of time.
type span struct{ From, To time.Time }
