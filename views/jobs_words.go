package views

// orderOf says how a list is sorted: what waits longest first, what ended last first.
func orderOf(s State) string {
	switch s {
	case Enqueued, Processing, Awaiting:
		return "oldest first"
	case Scheduled:
		return "next due first"
	}
	return "newest first"
}

func filterWords(p JobsProps) string {
	return "The filter is " + filterSentence(p.filter()) + ", taken literally."
}

func noneText(s State) string {
	switch s {
	case Failed:
		return "Nothing waits for a decision. A job comes here when its retries are used up or its error is not retryable."
	case Enqueued:
		return "Every job that could run has been taken by a worker."
	case Scheduled:
		return "No job waits for a later time, and no retry is pending."
	case Awaiting:
		return "No job waits for another one to end."
	case Processing:
		return "No worker is busy."
	case Deleted:
		return "Deleted jobs stay here for a while and can be restored."
	}
	return "Finished jobs are listed here until their retention ends."
}

// confirmHeading and the next two word the confirmation step.
func confirmHeading(p ConfirmProps) string {
	n := plural(int64(len(p.Jobs)), "job")
	switch p.Do {
	case "delete":
		return "Delete " + n + "?"
	case "restore":
		return "Restore " + n + "?"
	case "cancel":
		return "Cancel " + n + "?"
	}
	return "Requeue " + n + "?"
}

func confirmEffect(p ConfirmProps) string {
	n := int64(len(p.Jobs))
	running := int64(0)
	for _, j := range p.Jobs {
		if j.State == Processing {
			running++
		}
	}
	these := "These " + number(n) + " jobs"
	if n == 1 {
		these = "This job"
	}
	switch p.Do {
	case "delete":
		s := these + " will move to deleted and will not run again unless restored."
		if running > 0 {
			s += " " + plural(running, "running job") + " will be asked to stop; whatever it still does is recorded as a late result."
		}
		return s
	case "cancel":
		return these + " will be asked to end. A handler that then stops with an error ends its job as deleted, and nothing is retried; one that finishes all the same has succeeded."
	case "restore":
		return these + " will be enqueued again and run as soon as a worker is free."
	}
	return these + " will be enqueued and run as soon as a worker is free. Choose what happens if an attempt fails again."
}

func onceAll(jobs []JobRowProps) string {
	if len(jobs) == 1 {
		return jobs[0].onceLabel()
	}
	return "Run each once more, with the retries it has left"
}

func freshAll(jobs []JobRowProps) string {
	if len(jobs) == 1 {
		return jobs[0].freshLabel()
	}
	return "Retry each with a fresh budget"
}

func doWord(do string) string {
	if do == "delete" || do == "restore" || do == "cancel" {
		return do
	}
	return "requeue"
}

// leaveWord is the link that changes nothing; beside a button that says cancel, the
// word would be read as that.
func leaveWord(p ConfirmProps) string {
	if p.Do == "cancel" {
		return "Go back, change nothing"
	}
	return "Cancel, change nothing"
}

func cancelWords(c CancelProps) string {
	asked := "Cancel requested by " + clip(c.By, 60)
	if c.Ignored {
		return asked + ": ignored. The handler has not returned; it keeps its worker until it does. Delete frees the job at once, not the worker."
	}
	return asked + ": its context is cancelled within two seconds, and its handler has not returned yet."
}

// cancelHeeded says of a job whose last attempt was asked to end how that went.
func cancelHeeded(p JobProps) string {
	if len(p.History) == 0 {
		return ""
	}
	h := p.History[0]
	if h.Cancel == nil || h.State != p.State || h.Duration == nil { // without a duration no handler returned
		return ""
	}
	took := duration(max(0, h.At.Sub(h.Cancel.At)))
	if h.State == Succeeded {
		return "Cancel requested by " + clip(h.Cancel.By, 60) + ", too late: the handler had done its work when it returned, " + took + " after."
	}
	return "Cancel requested by " + clip(h.Cancel.By, 60) + " and acknowledged: the handler returned " + took + " after."
}
