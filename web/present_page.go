package web

import (
	"strconv"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// finishedOver is the time over which store.QueueRow.Finished adds up.
const finishedOver = 5

func presentCount(c store.Count) views.Count { return views.Count{N: c.N, AtLeast: c.AtLeast} }

func presentCounts(counts map[store.State]store.Count) map[views.State]views.Count {
	if counts == nil {
		return nil
	}
	out := map[views.State]views.Count{}
	for s, c := range counts {
		out[views.State(s.String())] = presentCount(c)
	}
	return out
}

func presentQueues(rows []store.QueueRow) []views.QueueProps {
	out := make([]views.QueueProps, len(rows))
	for i, q := range rows {
		out[i] = views.QueueProps{
			Name: q.Name, Depth: presentCount(q.Depth), OldestReady: q.OldestReady, Running: q.Running,
			FinishedPerMinute: float64(q.Finished) / finishedOver, Servers: q.Servers,
			PausedAt: q.PausedAt, PausedBy: q.PausedBy,
		}
	}
	return out
}

func presentServers(rows []store.ServerRow) []views.ServerProps {
	out := make([]views.ServerProps, len(rows))
	for i, s := range rows {
		out[i] = views.ServerProps{
			ID: strconv.FormatInt(s.ID, 10), Name: s.Name, Host: s.Host, Version: s.Version,
			PID: s.PID, Slots: s.Slots, Running: s.Running, Listening: s.Listening,
			Queues: s.Queues, Kinds: s.Kinds, StartedAt: s.StartedAt, SeenAt: s.SeenAt,
			LeaseUntil: s.LeaseUntil, DrainingAt: s.DrainingAt, StoppedAt: s.StoppedAt, LostAt: s.LostAt,
		}
	}
	return out
}

func presentKinds(rows []store.KindRow) []views.KindProps {
	out := make([]views.KindProps, len(rows))
	for i, k := range rows {
		out[i] = views.KindProps{
			Kind: k.Kind, Queue: k.Queue, MaxRetries: k.MaxRetries, SeenAt: k.SeenAt, Handled: k.Handled,
		}
		if k.TimeoutMS != nil {
			timeout := time.Duration(*k.TimeoutMS) * time.Millisecond
			out[i].Timeout = &timeout
		}
		if policy, err := jobs.ParsePolicy(k.Policy); err == nil {
			out[i].Warnings = policy.Warnings
		}
	}
	return out
}

func presentBuckets(rows []store.AttemptBucket) []views.Bucket {
	out := make([]views.Bucket, len(rows))
	for i, b := range rows {
		out[i] = views.Bucket{
			At: b.At, ByAttempt: b.ByAttempt, Exhausted: b.Exhausted, Permanent: b.Permanent,
			First: b.First, FirstOK: b.FirstOK,
		}
	}
	return out
}

func queueNames(rows []store.QueueRow) []string {
	names := make([]string, len(rows))
	for i, q := range rows {
		names[i] = q.Name
	}
	return names
}

func kindNames(rows []store.KindRow) []string {
	names := make([]string, len(rows))
	for i, k := range rows {
		names[i] = k.Kind
	}
	return names
}

// isLive as store defines it: neither stopped nor lost, and within its lease.
func isLive(s store.ServerRow) bool {
	return s.StoppedAt == nil && s.LostAt == nil && s.Now.Before(s.LeaseUntil)
}
