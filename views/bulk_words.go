package views

import "github.com/tekrar/tekrar/views/locale"

var causeJobs = map[string]string{"retry": locale.Sentence("%s that wait for a retry"), "snooze": locale.Sentence("%s that put themselves off"), "asked": locale.Sentence("%s that were enqueued for later")}

// filterSentence names a list in words: "failed jobs of kind “x”".
func filterSentence(in *locale.Locale, f ListFilter) string {
	s := in.Say(stateJobs[f.State])
	if f.Kind != "" {
		s = in.Say("%s of kind “%s”", s, clip(f.Kind, 80))
	}
	if f.Queue != "" {
		s = in.Say("%s in queue “%s”", s, clip(f.Queue, 80))
	}
	if f.Cause != "" {
		s = in.Say(causeJobs[f.Cause], s)
	}
	if f.Group != "" {
		s = in.Say("%s of failure group %s", s, f.Group)
	}
	if f.Q != "" {
		s = in.Say("%s matching “%s”", s, clip(f.Q, 160))
	}
	return s
}

func bulkHeading(in *locale.Locale, p BulkConfirmProps) string {
	switch p.Do {
	case "delete":
		return p.Count.of(in, "Delete all 1 job?", "Delete all %s jobs?")
	case "restore":
		return p.Count.of(in, "Restore all 1 job?", "Restore all %s jobs?")
	}
	return p.Count.of(in, "Requeue all 1 job?", "Requeue all %s jobs?")
}

func bulkEffect(in *locale.Locale, p BulkConfirmProps) string {
	s := in.Say("All %s, as they are now; jobs that come later are left alone.", filterSentence(in, p.Filter))
	switch p.Do {
	case "delete":
		s += " " + in.Say("They move to deleted and will not run again; the whole deletion can be undone while they are kept.")
	case "restore":
		s += " " + in.Say("They are enqueued again and run as soon as workers are free.")
	default:
		s += " " + in.Say("They are enqueued and run as soon as workers are free. Choose what happens if an attempt fails again.")
	}
	if p.Count.AtLeast {
		s += " " + in.Say("There are more than could be counted in time; all of them are meant.")
	}
	return s
}

// doing names an operation while it runs, did afterwards.
func (p BulkProps) doing(in *locale.Locale) string {
	switch p.Do {
	case "delete":
		return in.Plural(p.Expected, "Deleting 1 job", "Deleting %d jobs")
	case "restore":
		return in.Plural(p.Expected, "Restoring 1 job", "Restoring %d jobs")
	}
	return in.Plural(p.Expected, "Requeuing 1 job", "Requeuing %d jobs")
}

func (p BulkProps) did(in *locale.Locale) string {
	switch p.Do {
	case "delete":
		return in.Plural(p.Done, "1 job deleted", "%d jobs deleted")
	case "restore":
		return in.Plural(p.Done, "1 job restored", "%d jobs restored")
	}
	return in.Plural(p.Done, "1 job requeued", "%d jobs requeued")
}

func (p BulkProps) heading(in *locale.Locale) string {
	if p.State == "running" || p.State == "idle" {
		return p.doing(in)
	}
	return p.did(in)
}

func (p BulkProps) sentence(in *locale.Locale) string {
	switch {
	case p.State == "idle":
		return in.Say("Nobody works on it: the process that did is gone. Another one takes it up within a minute, or press Continue.")
	case p.State == "running" && p.Stopping:
		return in.Say("It stops after the jobs it is moving right now.")
	case p.State == "running":
		return in.Say("It runs on the server; this page may be closed.")
	case p.State == "stopped":
		return in.Say("Stopped by %s. What was done stays done.", clip(p.StoppedBy, 80))
	case p.State == "failed":
		return p.Error
	}
	s := in.Say("Finished.")
	if p.Skipped > 0 {
		s += " " + in.Plural(p.Skipped, "1 job had moved meanwhile.", "%d jobs had moved meanwhile.")
	}
	if p.Done+p.Skipped < p.Expected {
		s += " " + in.Say("The others had left the list before.")
	}
	if p.UndoneBy != "" {
		s += " " + in.Say("It was undone.")
	}
	return s
}
