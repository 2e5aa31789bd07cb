package redact

import (
	"strconv"
	"strings"
)

// Parts are the rules for a search that looks at args by itself: the words of each
// hidden key, in lower case, and the steps of each path.
func (r *Rules) Parts() (keys, paths [][]string) {
	if r == nil {
		r = byDefault
	}
	return r.keys, r.paths
}

// HidesPath reports that whatever stands at these steps from the top of args is
// hidden, by itself or with what holds it. A step may be an index in any form that
// Postgres takes: -1 is the last one, 01 is 1.
func (r *Rules) HidesPath(steps []string) bool {
	if r == nil {
		r = byDefault
	}
	for n, step := range steps {
		if r.hidesKey(step) {
			return true
		}
		for _, p := range r.paths {
			if len(p) == n+1 && meets(p, steps) {
				return true
			}
		}
	}
	return false
}

func meets(rule, steps []string) bool {
	for i, want := range rule {
		if want != "*" && want != steps[i] && !sameIndex(want, steps[i]) {
			return false
		}
	}
	return true
}

// sameIndex is careful: what an index from the end means is not known here.
func sameIndex(want, is string) bool {
	w, err := strconv.Atoi(want)
	n, err2 := strconv.Atoi(strings.TrimSpace(is))
	return err == nil && err2 == nil && (w == n || n < 0)
}
