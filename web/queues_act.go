package web

import (
	"context"
)

// queuesAct pauses or resumes a queue.
func queuesAct(r *request) error {
	do, err := r.field("do")
	if err != nil {
		return err
	}
	queue, err := r.field("queue")
	if err != nil {
		return err
	}
	if queue == "" {
		return badInput("Field queue: must not be empty.")
	}
	ctx, cancel := context.WithTimeout(r.UserContext(), actWait)
	defer cancel()
	switch do {
	case "pause":
		err = r.d.client.PauseQueue(ctx, r.who.Name, queue)
	case "resume":
		err = r.d.client.ResumeQueue(ctx, r.who.Name, queue)
	default:
		return badInput("Field do: unknown %s. Known ones: pause, resume.", shorten(do))
	}
	if err != nil {
		return cut(ctx, err)
	}
	return r.seeOther(r.d.links.Queues())
}
