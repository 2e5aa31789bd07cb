package schedule

import (
	"archive/zip"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// zoneNames lists the time zone database that time/tzdata embeds.
var zoneNames = sync.OnceValues(func() ([]string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	z, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	var names []string
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, "/") {
			names = append(names, f.Name)
		}
	}
	return names, nil
})

// change is one change of a zone's clock; zones that change alike count once.
type change struct {
	zone          string
	at            int64
	before, after int
}

// changes finds the clock changes of 2024 to 2030 without the code under test:
// by looking at the offset every six hours, then every minute.
func changes(t *testing.T) []change {
	names, err := zoneNames()
	if err != nil || len(names) < 500 {
		t.Fatalf("%d zones: %v", len(names), err)
	}
	from, to := at(t, "2024-01-01T00:00:00Z").Unix(), at(t, "2031-01-01T00:00:00Z").Unix()
	var found []change
	seen := map[string]bool{}
	for _, name := range names {
		loc := must(t, "* * * * *", name).Location()
		offset := func(u int64) int { _, o := time.Unix(u, 0).In(loc).Zone(); return o }
		for u := from; u < to; u += 6 * 3600 {
			if offset(u) == offset(u+6*3600) {
				continue
			}
			for m := u; m < u+6*3600; m += 60 {
				c := change{name, m + 60, offset(m), offset(m + 60)}
				key := fmt.Sprint(c.at, c.before, c.after)
				if c.before != c.after && !seen[key] {
					seen[key] = true
					found = append(found, c)
				}
			}
		}
	}
	return found
}

func TestEveryZoneOfTheDatabaseIsAccepted(t *testing.T) {
	t.Parallel()
	names, err := zoneNames()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		s, err := Parse("0 12 * * *", name)
		if err != nil {
			t.Error(err)
			continue
		}
		// 31 December of a leap year is where ZoneBounds gives an end in the past.
		now := at(t, "2028-12-29T00:00:00Z")
		for range 5 {
			next := s.Next(now)
			if gap := next.Sub(now); gap <= 0 || gap > 49*time.Hour {
				t.Fatalf("%s: %v after %v", name, next, now)
			}
			now = next
		}
	}
}

// shownBefore looks back over one clock change only; a release of the database
// that needs more fails here.
func TestNoClockChangesTwiceWhileItRepeats(t *testing.T) {
	t.Parallel()
	names, err := zoneNames()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		loc := must(t, "@daily", name).Location()
		seen := int64(math.MinInt64)
		until := at(t, "2060-01-01T00:00:00Z").Unix()
		for u := at(t, "1800-01-01T00:00:00Z").Unix(); u < until; {
			s := spanAt(loc, u)
			if u == s.start && shownBefore(loc, s) != seen {
				t.Errorf("%s at %v", name, time.Unix(u, 0).UTC())
			}
			u = s.end
			seen = max(seen, u+s.offset)
			if u == math.MaxInt64 {
				break
			}
		}
	}
}
