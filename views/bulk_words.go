package views

import "strings"

// filterSentence names a list in words: "failed jobs of kind “x”".
func filterSentence(f ListFilter) string {
	s := string(f.State) + " jobs"
	var parts []string
	if f.Kind != "" {
		parts = append(parts, "of kind “"+clip(f.Kind, 80)+"”")
	}
	if f.Queue != "" {
		parts = append(parts, "in queue “"+clip(f.Queue, 80)+"”")
	}
	if f.Group != "" {
		parts = append(parts, "of failure group "+f.Group)
	}
	if f.Q != "" {
		parts = append(parts, "matching “"+clip(f.Q, 160)+"”")
	}
	return strings.Join(append([]string{s}, parts...), " ")
}

func bulkHeading(p BulkConfirmProps) string {
	n := p.Count.of("job")
	switch p.Do {
	case "delete":
		return "Delete all " + n + "?"
	case "restore":
		return "Restore all " + n + "?"
	}
	return "Requeue all " + n + "?"
}

func bulkEffect(p BulkConfirmProps) string {
	s := "All " + filterSentence(p.Filter) + ", as they are now; jobs that come later are left alone. "
	switch p.Do {
	case "delete":
		s += "They move to deleted and will not run again; the whole deletion can be undone while they are kept."
	case "restore":
		s += "They are enqueued again and run as soon as workers are free."
	default:
		s += "They are enqueued and run as soon as workers are free. Choose what happens if an attempt fails again."
	}
	if p.Count.AtLeast {
		s += " There are more than could be counted in time; all of them are meant."
	}
	return s
}

// doing and did name an operation while it runs and afterwards.
func (p BulkProps) doing() string {
	return map[string]string{"requeue": "Requeuing", "delete": "Deleting", "restore": "Restoring"}[p.Do]
}

func (p BulkProps) did() string {
	return map[string]string{"requeue": "requeued", "delete": "deleted", "restore": "restored"}[p.Do]
}

func (p BulkProps) heading() string {
	switch p.State {
	case "running", "idle":
		return p.doing() + " " + plural(p.Expected, "job")
	}
	return upperFirst(plural(p.Done, "job") + " " + p.did())
}

func (p BulkProps) sentence() string {
	switch {
	case p.State == "idle":
		return "Nobody works on it: the process that did is gone. Another one takes it up within a minute, or press Continue."
	case p.State == "running" && p.Stopping:
		return "It stops after the jobs it is moving right now."
	case p.State == "running":
		return "It runs on the server; this page may be closed."
	case p.State == "stopped":
		return "Stopped by " + clip(p.StoppedBy, 80) + ". What was done stays done."
	case p.State == "failed":
		return p.Error
	}
	s := "Finished."
	if p.Skipped > 0 {
		s += " " + plural(p.Skipped, "job") + " had moved meanwhile."
	}
	if p.Done+p.Skipped < p.Expected {
		s += " The others had left the list before."
	}
	if p.UndoneBy != "" {
		s += " It was undone."
	}
	return s
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
