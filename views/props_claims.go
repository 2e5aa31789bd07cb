package views

import "time"

// ClaimState is the name of a claim's state as the screen spells it.
type ClaimState string

// The states of an effect claim.
const (
	Claimed       ClaimState = "claimed"
	Begun         ClaimState = "begun"
	Unknown       ClaimState = "unknown"
	ClaimDone     ClaimState = "done"
	ClaimReleased ClaimState = "released"
	ClaimFailed   ClaimState = "failed"
	ClaimReserved ClaimState = "reserved"
)

// ClaimsProps is the list page.
type ClaimsProps struct {
	Tabs       ClaimTabsProps
	Rows       []ClaimRowProps
	After      string // cursor of this page, "" first
	Next       string // cursor of the next page, "" when this is the last
	Purge      PurgeProps
	LoadFailed bool
}

// ClaimTabsProps is the row of tabs. A tab without a count was not counted.
type ClaimTabsProps struct {
	Version int64
	Current string // unsettled, unknown, done, released
	Counts  map[string]Count
}

// Never: no claim was ever made, or none is left.
func (t ClaimTabsProps) never() bool {
	n := int64(0)
	for _, c := range t.Counts {
		n += c.N
	}
	return n == 0 && len(t.Counts) == len(claimTabs)
}

// ClaimRowProps is one claim.
type ClaimRowProps struct {
	Version    int64
	Key        string
	Token      string // of the present holder
	State      ClaimState
	Stale      bool   // claimed or begun, and the holder is gone
	Job        string // id; "" made outside of a job
	Attempt    int
	Holder     string // host and process
	ClaimedAt  time.Time
	BegunAt    *time.Time
	EffectAt   *time.Time // the first possible effect
	DoubtAt    *time.Time
	SettledAt  *time.Time
	Until      time.Time     // when a live holder's claim ends without a further sign of life
	StaleAfter time.Duration // outside of jobs
	KeyLife    time.Duration // at the provider; 0 no limit given
	Generation int
	Reclaims   int
	Duplicates int
	Receipt    string // JSON, "" none
	Reason     string
	Gone       bool // left the list: shown dimmed, where it was
}

// ClaimProps is the page of one claim.
type ClaimProps struct {
	ClaimRowProps
	Fingerprint string
	Past        []PastHolder  // oldest first
	Late        []LateReceipt // oldest first
	Contenders  []Contender   // oldest first
	Calls       []CallRowProps
	PartFailed  bool // receipts, calls or attempts could not be read
}

// PastHolder is a former holder, or a deliberate sending again (Again is who).
type PastHolder struct {
	Job               string
	Attempt           int
	Holder            string
	State             ClaimState // when it was taken over
	Generation        int
	ClaimedAt, Until  time.Time
	BegunAt           *time.Time
	Again, AgainProof string // who sent again, and the receipt until then
}

// LateReceipt is a receipt that came when its claim was another's.
type LateReceipt struct {
	At         time.Time
	Job        string
	Attempt    int
	Generation int
	Receipt    string
	Duplicate  bool // tells of another effect than the claim's own receipt
}

// Contender is somebody who did, or might have done, the effect.
type Contender struct {
	Job              string
	Attempt          int
	Holder           string
	RunFrom          time.Time
	RunTo            *time.Time // nil: it runs
	HeldFrom, HeldTo *time.Time // nil HeldFrom: it never held the claim, as far as is known
	BegunAt          *time.Time
	Receipts         []time.Time
	Calls            []CallSpan
}

// CallSpan is the time of a provider call; To is nil while there is no answer.
type CallSpan struct {
	From time.Time
	To   *time.Time
}

// ClaimConfirmProps says what a decision will do, before it is done.
type ClaimConfirmProps struct {
	ClaimRowProps
	Do   string // reclaim, delivered, not-delivered, again
	Back string // local URL of the cancel link
}

// PurgeProps is the card of the purge.
type PurgeProps struct {
	Version    int64
	Last, Dry  *PurgeReport // nil: none is kept
	Handled    bool         // a live server has the kind
	LoadFailed bool
}

// PurgeReport is what a purge came to.
type PurgeReport struct {
	Job                                                            string
	At                                                             time.Time
	Removed, Young, Unsettled, Reserved, OfFailed, OfLive, Unknown int
}

// CallsProps is the page of provider calls.
type CallsProps struct {
	Key, Job   string // exact filters, "" all
	Rows       []CallRowProps
	Older      string // id for the next page, "" when this is the last
	Paged      bool   // not the first page
	Stats      *CallStatsProps
	LoadFailed bool
}

// CallStatsProps are the numbers of the last 24 hours.
type CallStatsProps struct {
	Version                       int64
	Calls, Duplicates             Count
	Answered, Delivered, Replayed int64
	P95                           time.Duration
	Warnings                      []CallWarning
	LoadFailed                    bool
}

// CallWarning is a use of keys that defeats them. Kind: payloads, keys, effects.
type CallWarning struct {
	Kind string
	Keys []string
	N    int64
}

// CallRowProps is one provider call.
type CallRowProps struct {
	Version          int64
	ID               string
	At               time.Time
	Ended            bool
	Duration         time.Duration
	Provider, Key    string
	Status           int // 0: no answer
	Outcome          string
	Replayed         bool
	Reference, Error string
	Job              string // "" outside of a job
	Attempt          int
}
