package jobs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/store"
)

// MaxUniqueKey is the most characters a unique key may have; keys are stored as
// hashes.
const MaxUniqueKey = 1000

// UniqueScope says how long a job holds its unique key: WhileWaiting,
// UntilFinished or For.
type UniqueScope struct {
	scope store.UniqueScope
	d     time.Duration
}

var (
	// WhileWaiting holds the key while the job is enqueued, scheduled (waiting
	// retries included) or awaiting: one more can be enqueued as soon as it runs.
	WhileWaiting = UniqueScope{scope: store.UniqueWhileWaiting}
	// UntilFinished holds the key until the job succeeded, failed or was deleted.
	// A worker that dies holds it only until its job is taken over and finishes.
	UntilFinished = UniqueScope{scope: store.UniqueUntilFinished}
)

// For holds the key for d from the enqueue, whatever becomes of the job.
func For(d time.Duration) UniqueScope { return UniqueScope{scope: store.UniqueFor, d: d} }

// Unique stores the job only if no other job of its kind holds the key. A
// duplicate is no error: the result has the holder's ID and Duplicate set. The
// scope that counts is the holder's.
func Unique(key string, scope UniqueScope) EnqueueOption {
	return func(j *store.NewJob) error {
		switch {
		case key == "" || utf8.RuneCountInString(key) > MaxUniqueKey:
			return inputError("unique key", "has %d characters: 1 to %d", utf8.RuneCountInString(key), MaxUniqueKey)
		case !utf8.ValidString(key):
			return inputError("unique key", "is not valid UTF-8")
		}
		return setUnique(j, "key\x00"+key, scope)
	}
}

// UniqueArgs is Unique with the job's args as the key: the order of members does
// not matter, numbers are equal if they are written alike (1 is not 1.0).
func UniqueArgs(scope UniqueScope) EnqueueOption {
	return func(j *store.NewJob) error {
		dec := json.NewDecoder(strings.NewReader(j.Args))
		dec.UseNumber()
		var args any
		if err := dec.Decode(&args); err != nil {
			return err
		}
		text, err := json.Marshal(args) // sorts members
		if err != nil {
			return err
		}
		return setUnique(j, "args\x00"+string(text), scope)
	}
}

func setUnique(j *store.NewJob, key string, scope UniqueScope) error {
	if scope.scope == 0 {
		return inputError("unique scope", "is not set: WhileWaiting, UntilFinished or For")
	}
	if scope.scope == store.UniqueFor && (scope.d < time.Millisecond || scope.d > 366*24*time.Hour) {
		return inputError("unique period", "%v is outside 1ms to 366 days", scope.d)
	}
	hash := sha256.Sum256(bytes.Join([][]byte{[]byte(j.Kind), []byte(key)}, []byte{0}))
	j.Unique = &store.Unique{Hash: hash, Scope: scope.scope, For: scope.d}
	return nil
}

// MaxTags and MaxTag bound the tags of a job.
const (
	MaxTags = 20
	MaxTag  = 100
)

// Tags adds words to find the job by: at most MaxTags of 1 to MaxTag printable
// characters.
func Tags(tags ...string) EnqueueOption {
	return func(j *store.NewJob) error {
		if len(j.Tags)+len(tags) > MaxTags {
			return inputError("tags", "%d are given: at most %d", len(j.Tags)+len(tags), MaxTags)
		}
		for _, tag := range tags {
			if err := checkName("tag", tag); err != nil {
				return err
			}
			if utf8.RuneCountInString(tag) > MaxTag {
				return inputError("tag", "has %d characters: at most %d", utf8.RuneCountInString(tag), MaxTag)
			}
		}
		j.Tags = append(j.Tags, tags...)
		return nil
	}
}

func anyUnique(list []store.NewJob) bool {
	for i := range list {
		if list[i].Unique != nil {
			return true
		}
	}
	return false
}

// inTx says whether the jobs take several statements: unique keys are locked first
// and looked up after, parents are locked before and looked at again.
func inTx(list []store.NewJob) bool {
	return anyUnique(list) || slices.ContainsFunc(list, func(j store.NewJob) bool { return j.Parent != 0 })
}

// enqueueInTx stores such jobs in a transaction of its own.
func (c *Client) enqueueInTx(ctx context.Context, list []store.NewJob) (created []store.Created, err error) {
	err = c.db.Tx(ctx, func(tx *sqlx.Tx) (err error) {
		created, err = c.enqueueChunks(ctx, tx, list)
		return err
	})
	if err != nil {
		return nil, err
	}
	c.enqueued(list, created, nil)
	return created, nil
}
