package views

import "github.com/tekrar/tekrar/views/locale"

// orderOf says how a list is sorted: what waits longest first, what ended last first.
func orderOf(in *locale.Locale, s State) string {
	switch s {
	case Enqueued, Processing, Awaiting:
		return in.Say("oldest first")
	case Scheduled:
		return in.Say("next due first")
	}
	return in.Say("newest first")
}

// stateJobs name the jobs of a state.
var stateJobs = map[State]string{
	Enqueued: locale.Sentence("enqueued jobs"), Scheduled: locale.Sentence("scheduled jobs"), Awaiting: locale.Sentence("awaiting jobs"),
	Processing: locale.Sentence("processing jobs"), Succeeded: locale.Sentence("succeeded jobs"), Failed: locale.Sentence("failed jobs"),
	Deleted: locale.Sentence("deleted jobs"),
}

func filterWords(in *locale.Locale, p JobsProps) string {
	return in.Say("The filter is %s, taken literally.", filterSentence(in, p.ListFilter))
}

func noneText(in *locale.Locale, s State) string {
	switch s {
	case Failed:
		return in.Say("Nothing waits for a decision. A job comes here when its retries are used up or its error is not retryable.")
	case Enqueued:
		return in.Say("Every job that could run has been taken by a worker.")
	case Scheduled:
		return in.Say("No job waits for a later time, and no retry is pending.")
	case Awaiting:
		return in.Say("No job waits for another one to end.")
	case Processing:
		return in.Say("No worker is busy.")
	case Deleted:
		return in.Say("Deleted jobs stay here for a while and can be restored.")
	}
	return in.Say("Finished jobs are listed here until their retention ends.")
}

// confirmHeading and the next two word the confirmation step.
func confirmHeading(in *locale.Locale, p ConfirmProps) string {
	n := p.count()
	switch p.Do {
	case "delete":
		return n.of(in, "Delete 1 job?", "Delete %s jobs?")
	case "restore":
		return n.of(in, "Restore 1 job?", "Restore %s jobs?")
	case "cancel":
		return n.of(in, "Cancel 1 job?", "Cancel %s jobs?")
	}
	return n.of(in, "Requeue 1 job?", "Requeue %s jobs?")
}

func confirmEffect(in *locale.Locale, p ConfirmProps) string {
	n := p.count()
	switch p.Do {
	case "delete":
		s := n.of(in, "This job will move to deleted and will not run again unless restored.", "These %s jobs will move to deleted and will not run again unless restored.")
		running := int64(0)
		for _, j := range p.Jobs {
			if j.State == Processing {
				running++
			}
		}
		if running > 0 {
			s += " " + in.Plural(running,
				"1 running job will be asked to stop; whatever it still does is recorded as a late result.",
				"%d running jobs will be asked to stop; whatever it still does is recorded as a late result.")
		}
		return s
	case "cancel":
		return n.of(in,
			"This job will be asked to end. A handler that then stops with an error ends its job as deleted, and nothing is retried; one that finishes all the same has succeeded.",
			"These %s jobs will be asked to end. A handler that then stops with an error ends its job as deleted, and nothing is retried; one that finishes all the same has succeeded.")
	case "restore":
		return n.of(in, "This job will be enqueued again and run as soon as a worker is free.", "These %s jobs will be enqueued again and run as soon as a worker is free.")
	}
	return n.of(in,
		"This job will be enqueued and run as soon as a worker is free. Choose what happens if an attempt fails again.",
		"These %s jobs will be enqueued and run as soon as a worker is free. Choose what happens if an attempt fails again.")
}

func (p ConfirmProps) count() Count { return Count{N: int64(len(p.Jobs))} }

func onceAll(in *locale.Locale, jobs []JobRowProps) string {
	if len(jobs) == 1 {
		return jobs[0].onceLabel(in)
	}
	return in.Say("Run each once more, with the retries it has left")
}

func freshAll(in *locale.Locale, jobs []JobRowProps) string {
	if len(jobs) == 1 {
		return jobs[0].freshLabel(in)
	}
	return in.Say("Retry each with a fresh budget")
}

// nothingTo heads the page of an action that has no job to change.
func nothingTo(in *locale.Locale, do string) string {
	switch do {
	case "delete":
		return in.Say("Nothing to delete")
	case "restore":
		return in.Say("Nothing to restore")
	case "cancel":
		return in.Say("Nothing to cancel")
	}
	return in.Say("Nothing to requeue")
}

// leaveWord is the link that changes nothing; beside a button that says cancel, the
// word would be read as that.
func leaveWord(in *locale.Locale, p ConfirmProps) string {
	if p.Do == "cancel" {
		return in.Say("Go back, change nothing")
	}
	return in.Say("Cancel, change nothing")
}
