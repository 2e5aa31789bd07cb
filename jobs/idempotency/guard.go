package idempotency

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/tekrar/tekrar/jobs"
)

// guard judges a key before it is claimed: what changes from run to run in it
// would make each run an effect of its own. A text that the job's arguments hold
// is the same at every attempt, whatever it looks like.
func (c *Claims) guard(ctx context.Context, key Key) error {
	if c.cfg.Guard == Off || key.raw {
		return nil
	}
	looks := unstable(ctx, key, time.Now())
	if looks == "" {
		return nil
	}
	err := &GuardError{Key: key.String(), Looks: looks}
	if c.cfg.Guard == Strict {
		return jobs.Permanent(err)
	}
	c.cfg.Logger.Warn("idempotency key may change from run to run", "key", err.Key, "looks like", err.Looks)
	return nil
}

// unstable says what a key looks like that it should not, empty if it is fine.
func unstable(ctx context.Context, key Key, now time.Time) string {
	a, inJob := jobs.Current(ctx)
	for i, part := range key.parts {
		found := suspect(part, now)
		if i > 0 && len(part) <= 20 && letter(part[0]) && attemptShape.MatchString(part) {
			found = append(found, suspicion{part, "an attempt number"})
		}
		if i > 0 && inJob {
			switch part {
			case strconv.FormatInt(a.JobID, 10):
				found = append(found, suspicion{part, "the job's id"})
			case strconv.Itoa(a.Attempt):
				found = append(found, suspicion{part, "the attempt's number"})
			}
		}
		for _, s := range found {
			if !inJob || !occurs(string(a.Args), s.text) {
				return s.looks
			}
		}
	}
	return ""
}

// occurs finds text in args as a word of its own, upper or lower case: the 1 of 31
// is no 1.
func occurs(args, text string) bool {
	args, text = strings.ToLower(args), strings.ToLower(text)
	for from := 0; ; {
		i := strings.Index(args[from:], text)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(text)
		if (start == 0 || !word(args[start-1])) && (end == len(args) || !word(args[end])) {
			return true
		}
		from = start + 1
	}
}

func word(c byte) bool { return digit(c) || letter(c) }
