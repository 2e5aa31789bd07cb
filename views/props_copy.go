package views

import "time"

// CopyFormProps is the form for a copy of a job, filled with what was typed.
type CopyFormProps struct {
	ID, Kind string
	State    State // of the original; on the screen from here on
	Attempt  int   // starts of the original so far
	Args     string
	Kept     string // why the args cannot be edited: hidden or large; "" they can
	Shown    string // the args as JSON for eyes, where they cannot be edited
	Queue    string
	Delay    string
	Errors   map[string]string // by field: args, queue, delay; "" for the whole form
}

// CopyConfirmProps says what the copy will be and do, before it is enqueued.
type CopyConfirmProps struct {
	CopyFormProps
	Moved         State // the original's state on the screen before; "" the same
	OldQueue      string
	Wait          time.Duration // 0: now
	Edited        bool
	Diff          []DiffLine // of the args, as canonical JSON; empty when Edited is false
	Claims        []CopyClaim
	ClaimsFailed  bool   // could not be read
	Once          string // names this page, so that pressing twice enqueues once
	NothingIsDone bool   // the press before changed nothing, because of Moved
}

// DiffLine is a line of a comparison. Mark: + added, - removed, a blank kept, … left out.
type DiffLine struct {
	Mark rune
	Text string
}

// CopyClaim is a claim of the original, and what becomes of its key in the copy.
type CopyClaim struct {
	Key     string
	State   ClaimState
	Stale   bool
	Content bool     // it compares what it is claimed for
	Fate    KeyFate  // judged by the args that occur in the key
	Changed []string // paths of those that differ
}

// KeyFate is whether a copy makes the same key: KeyStays, KeyChanges or KeyUnclear.
type KeyFate string

// The fates of a key.
const (
	KeyStays   KeyFate = "stays"
	KeyChanges KeyFate = "changes"
	KeyUnclear KeyFate = "unclear"
)
