package store

import (
	"encoding/json"
	"fmt"
	"time"
)

// EffectState is where an effect claim stands.
type EffectState int16

// The states of an effect claim. Claimed, begun and unknown are unsettled.
const (
	EffectClaimed  EffectState = 1
	EffectBegun    EffectState = 2 // the effect may be on its way
	EffectUnknown  EffectState = 3 // begun, and nobody can say whether it happened
	EffectDone     EffectState = 4
	EffectReleased EffectState = 5 // did not happen; free to be claimed again
	EffectFailed   EffectState = 6 // did not happen, and was given up
	EffectReserved EffectState = 7 // made with the business row; nobody's yet
)

// EffectStates lists the states in the order of their numbers.
var EffectStates = []EffectState{EffectClaimed, EffectBegun, EffectUnknown, EffectDone, EffectReleased, EffectFailed, EffectReserved}

var effectStateNames = map[EffectState]string{
	EffectClaimed: "claimed", EffectBegun: "begun", EffectUnknown: "unknown", EffectDone: "done",
	EffectReleased: "released", EffectFailed: "failed", EffectReserved: "reserved",
}

func (s EffectState) String() string {
	if n, ok := effectStateNames[s]; ok {
		return n
	}
	return fmt.Sprintf("effect state(%d)", int16(s))
}

// Unsettled reports that the effect is neither done nor known not to have happened.
func (s EffectState) Unsettled() bool { return s >= EffectClaimed && s <= EffectUnknown }

// EffectHolder is who claims an effect. With a JobID the claim lives as long as
// that attempt holds its job; without, for StaleAfter from its last sign of life.
type EffectHolder struct {
	JobID      int64 // 0: outside of a job
	Attempt    int
	Server     int64
	Name       string // for eyes: host and process
	StaleAfter time.Duration
}

// Effect is one row of effect_claims.
type Effect struct {
	Key        string
	Token      int64
	State      EffectState
	Generation int // 1 at first; grows by an operator's "send again" only
	Reclaims   int
	Holder     EffectHolder
	ClaimedAt  time.Time
	BegunAt    *time.Time // by the present holder
	EffectAt   *time.Time // the first possible effect of this generation
	DoubtAt    *time.Time // since when an earlier effect may have happened
	SettledAt  *time.Time
	KeyLife    time.Duration // 0: none given
	// Stale: the holder is gone, the claim is free to be taken over.
	Stale bool
	// Until is when the claim of a live holder ends if that one shows no further
	// sign of life: the end of its server's lease, or stale_at.
	Until       time.Time
	Now         time.Time // database clock of the read
	Fingerprint string
	Reason      string
	Receipt     json.RawMessage // null when there is none
	Past        json.RawMessage // earlier holders, oldest first
	Duplicates  int             // late receipts that tell of another effect than Receipt
}
