package schedule

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
)

// rule is an expression with its meaning written by hand.
type rule struct {
	spec      string
	kind      string // "fixed", "hours" (interval-like, some hours), "every" (interval-like, all hours)
	matchTime func(h, m int) bool
	matchDay  func(t time.Time) bool
}

func anyDay(time.Time) bool { return true }

var rules = []rule{
	{"* * * * *", "every", func(h, m int) bool { return true }, anyDay},
	{"*/30 * * * *", "every", func(h, m int) bool { return m%30 == 0 }, anyDay},
	{"7 * * * *", "every", func(h, m int) bool { return m == 7 }, anyDay},
	{"15,45 0-23 * * 0", "every", func(h, m int) bool { return m == 15 || m == 45 }, func(t time.Time) bool { return t.Weekday() == 0 }},
	{"0 */2 * * *", "hours", func(h, m int) bool { return m == 0 && h%2 == 0 }, anyDay},
	{"*/20 2 * * *", "hours", func(h, m int) bool { return m%20 == 0 && h == 2 }, anyDay},
	{"* 0 * * *", "hours", func(h, m int) bool { return h == 0 }, anyDay},
	{"5/25 1-3 * * *", "hours", func(h, m int) bool { return (m == 5 || m == 30 || m == 55) && h >= 1 && h <= 3 }, anyDay},
	{"0 0 * * *", "fixed", func(h, m int) bool { return m == 0 && h == 0 }, anyDay},
	{"30 0 * * *", "fixed", func(h, m int) bool { return m == 30 && h == 0 }, anyDay},
	{"30 1 * * *", "fixed", func(h, m int) bool { return m == 30 && h == 1 }, anyDay},
	{"30 2 * * *", "fixed", func(h, m int) bool { return m == 30 && h == 2 }, anyDay},
	{"0,59 23,0-4 * * *", "fixed", func(h, m int) bool { return (m == 0 || m == 59) && (h == 23 || h <= 4) }, anyDay},
	{"0 3 * * SUN", "fixed", func(h, m int) bool { return h == 3 && m == 0 }, func(t time.Time) bool { return t.Weekday() == 0 }},
	{"45 2 1,L * 5", "fixed", func(h, m int) bool { return h == 2 && m == 45 }, func(t time.Time) bool {
		return t.Day() == 1 || t.AddDate(0, 0, 1).Day() == 1 || t.Weekday() == 5
	}},
}

func (r rule) matches(wall int64) bool {
	t := time.Unix(wall*60, 0).UTC()
	return r.matchTime(t.Hour(), t.Minute()) && r.matchDay(t)
}

// scan walks real time minute by minute, as a person with a watch would, and
// calls fire for each minute that fires. walls are the wall clock's minutes.
func (r rule) scan(walls []int64, fire func(minute int)) {
	newest := walls[0] - 1 // the latest minute that the clock has shown
	for i, wall := range walls {
		due := false
		if r.kind != "fixed" {
			due = r.matches(wall)
		}
		if r.kind != "every" {
			last := wall
			if r.kind == "hours" {
				last = wall - 1 // only what was skipped
			}
			for w := newest + 1; w <= last; w++ {
				due = due || r.matches(w)
			}
		}
		newest = max(newest, wall)
		if due {
			fire(i)
		}
	}
}

func TestNextAgainstMinuteScanAroundEveryClockChange(t *testing.T) {
	t.Parallel()
	all := changes(t)
	checked := all
	if testing.Short() {
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		checked = all[:len(all)/4]
	}
	if t.Logf("%d of %d clock changes", len(checked), len(all)); len(all) < 300 {
		t.Error("the search for clock changes finds too few")
	}
	const around = 28 * 60 // minutes on either side
	for _, c := range checked {
		loc := must(t, "* * * * *", c.zone).Location()
		walls := make([]int64, 2*around)
		start := c.at - around*60
		for i := range walls {
			u := start + int64(i)*60
			_, offset := time.Unix(u, 0).In(loc).Zone()
			walls[i] = (u + int64(offset)) / 60
		}
		for _, r := range rules {
			s := must(t, r.spec, c.zone)
			now := time.Unix(start-1, 0)
			r.scan(walls, func(minute int) {
				want := time.Unix(start+int64(minute)*60, 0)
				if next := s.Next(now); !next.Equal(want) {
					t.Fatalf("%s in %s after %v: %v, want %v", r.spec, c.zone, now.UTC(), next, want.UTC())
				}
				now = want
			})
			if next := s.Next(now); next.Unix() < start+2*around*60 {
				t.Fatalf("%s in %s: a fire too many at %v", r.spec, c.zone, next)
			}
		}
	}
}

// Away from clock changes robfig/cron is right, and reads the same expressions.
func TestNextAgainstRobfigAwayFromClockChanges(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	dice := rand.New(rand.NewPCG(2, seed))
	parser := cron.NewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
	zones := []string{"UTC", "Asia/Tokyo", "Asia/Kolkata", "America/New_York", "Australia/Lord_Howe", "Europe/Istanbul"}
	compared := 0
	for range 3_000 {
		spec, zone := randomSpec(dice), zones[dice.IntN(len(zones))]
		theirs, err := parser.Parse(spec)
		if err != nil {
			t.Fatalf("%q: %v", spec, err)
		}
		ours, err := Parse(spec, zone)
		now := time.Unix(1_704_067_200+dice.Int64N(7*365*daySeconds), 0).In(must(t, "@daily", zone).Location())
		if err != nil {
			if next := theirs.Next(now); !next.IsZero() {
				t.Fatalf("%q refused, but fires at %v: %v", spec, next, err)
			}
			continue
		}
		for range 5 {
			want := theirs.Next(now)
			end := now.Add(-48 * time.Hour)
			if _, change := end.ZoneBounds(); !change.IsZero() && change.Before(want.Add(48*time.Hour)) {
				break
			}
			if next := ours.Next(now); !next.Equal(want) {
				t.Fatalf("seed %d: %q in %s after %v: %v, want %v", seed, spec, zone, now, next, want.UTC())
			}
			compared++
			now = want
		}
	}
	if compared < 3_000 {
		t.Errorf("only %d fires compared", compared)
	}
}

// randomSpec stays within what both parsers read alike: no 7, no L, no names of
// ranges across the week's end.
func randomSpec(dice *rand.Rand) string {
	spec := ""
	for i, f := range fields {
		if i == 0 && dice.IntN(2) == 0 {
			continue
		}
		if i == weekdayField {
			f.max = 6
		}
		spec += randomField(dice, f.min, f.max) + " "
	}
	return spec[:len(spec)-1]
}

func randomField(dice *rand.Rand, low, high int) string {
	value := func() int { return low + dice.IntN(high-low+1) }
	switch dice.IntN(7) {
	case 0:
		return plain(value())
	case 1:
		return plain(value()) + "," + plain(value())
	case 2:
		a, b := value(), value()
		return plain(min(a, b)) + "-" + plain(max(a, b)) + "/" + plain(1+dice.IntN(4))
	case 3:
		return "*/" + plain(1+dice.IntN(high-low))
	case 4:
		a, b := value(), value()
		return plain(value()) + "," + plain(min(a, b)) + "-" + plain(max(a, b))
	}
	return "*"
}
