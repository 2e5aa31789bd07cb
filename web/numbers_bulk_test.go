package web_test

import (
	"strconv"
	"strings"
	"time"
)

func pageOfBulk(q frozen) string {
	id := q.n(`select coalesce(max(id), 0) from tekrar.bulk_operations`)
	if id == 0 {
		return "/audit?action=delete+all"
	}
	return "/bulk/" + strconv.FormatInt(id, 10)
}

// numbersOfBulk: how far the newest operation is.
func numbersOfBulk(s *sheet, q frozen) {
	id, found := strings.CutPrefix(s.path, "/bulk/")
	if !found {
		return // none was begun yet
	}
	var b struct {
		State, Expected, Done, Skipped int64
		Created                        time.Time
	}
	q.get(&b, `select state, expected, done, skipped, created_at as created from tekrar.bulk_operations where id = $1`, id)
	root := first(s.main, "#bulk-progress")
	if b.State == 1 {
		s.says(first(root, "h1"), b.Expected)
	} else {
		s.says(first(root, "h1"), b.Done)
	}
	facts := all(root, ".bulk-dl dd")
	s.says(facts[0], b.Done, b.Expected)
	lead := first(root, ".lead")
	if b.Skipped > 0 {
		s.says(facts[1], b.Skipped)
		facts = facts[1:]
	}
	if b.State == 2 && b.Skipped > 0 {
		s.says(lead, b.Skipped)
	} else {
		s.says(lead)
	}
	s.times(facts[1], b.Created)
	for _, button := range all(root, "button") {
		if attr(button, "value") == "undo" {
			s.says(button, b.Done)
		}
	}
}
