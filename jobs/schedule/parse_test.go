package schedule

import (
	"strings"
	"testing"
	"time"
)

// quick fails a test whose work takes longer than an input may. The limit is
// 10 ms; the best of three runs counts, since a busy machine can stop any one.
func quick(t *testing.T, what string, work func()) {
	t.Helper()
	best := time.Hour
	for range 3 {
		began := time.Now()
		work()
		best = min(best, time.Since(began))
	}
	if best > 10*time.Millisecond {
		t.Errorf("%.60s took %v", what, best)
	}
}

func TestCRN05_NeverFiringDatesAreRefused(t *testing.T) {
	t.Parallel()
	for spec, words := range map[string]string{
		"0 0 30 2 *":            "never fires: February has no day 30",
		"0 0 31 4 *":            "never fires: April has no day 31",
		"0 0 31 2,4,6,9,11 *":   "never fires: February, April, June, September or November has no day 31",
		"0 0 0 30,31 feb ?":     "never fires: February has no day 30 or 31",
		"* * * 31 */2 * x":      "7 fields",
		"* * * 30-31/1 2-2/1 *": "never fires",
	} {
		quick(t, spec, func() {
			_, err := Parse(spec, "America/New_York")
			wantRefused(t, err, "cron", words)
		})
	}
	for _, spec := range []string{"0 0 29 2 *", "0 0 31 2,3 *", "0 0 30 2 1", "0 0 30,L 2 *"} {
		must(t, spec, "")
	}
}

func TestBadExpressionsAreRefusedWithTheFieldNamed(t *testing.T) {
	t.Parallel()
	for spec, words := range map[string]string{
		"": "has 0 fields: 5 (minute", " \t ": "has 0 fields", "*": "has 1 fields", "* * * *": "has 4 fields",
		"60 * * * *": `minute "60": "60" is not a number from 0 to 59`, "* 24 * * *": "hour", "* * 0 * *": "day of month",
		"* * 32 * *": "1 to 31", "* * * 13 *": "month", "* * * 0 *": "month", "* * * * 8": "day of week", "60 * * * * *": "second",
		"* * * foo *": "name from jan to dec", "* * * * montag": "name from sun to sat", "* * * january *": "month",
		"-1 * * * *": "minute", "+1 * * * *": "minute", "1- * * * *": "minute", "1-2-3 * * * *": "minute", "1..2 * * * *": "minute",
		"0x1 * * * *": "minute", "1e1 * * * *": "minute", "99999999999999999999 * * * *": "minute", "1,,2 * * * *": "comma",
		", * * * *": "comma", "*/0 * * * *": `step "0" is outside 1 to 59`, "*/-1 * * * *": "step", "*/ * * * *": "step",
		"*/90 * * * *": "step", "*/1/2 * * * *": "step", "0-59/4294967297 * * * *": "step", "* */24 * * *": "1 to 23",
		"5-1 * * * *": "write it as two, 5-59,0-1", "* 22-2 * * *": "22-23,0-2", "* * * nov-feb *": "nov-12,1-feb",
		"** * * * *": "minute", "*5 * * * *": "minute", "? * * * *": "day field", "* * ?,1 * *": "? may only",
		"* * * ? *": "day field", "* * LW * *": "not supported", "* * 15W * *": "not supported", "* * L-3 * *": "not supported",
		"* * * * 5L": "not supported", "* * * * friL": "not supported", "* * * * fri#2": "not supported", "* * * * L": "not supported",
		"L * * * *": "minute", "@reboot": "is no macro", "@": "is no macro", "@daily @daily": "is no macro", "@daily\x00": "byte 7",
		"@every": "not a duration", "@every 5": "not a duration", "@every 1h 1m": "not a duration", "@every -5s": "outside 1s to",
		"@every 0s": "outside", "@every 999ms": "outside", "@every 9000h": "366 days", "@every 1.0001s": "milliseconds",
		"@every 99999999999999999999h": "not a duration", "TZ=UTC * * * * *": "setting of its own", "CRON_TZ=UTC * * * * *": "setting of its own",
		"٣ * * * *": "byte 1", "* * * * *\n": "byte 10", "*\u00a0* * * *": "byte 2", "１ * * * *": "byte 1", "* * * * \xff": "byte 9",
		strings.Repeat("0,", 5_000) + "0 * * * *": "has 10009 bytes: at most 1000", strings.Repeat("*", 10_000): "at most 1000",
		strings.Repeat("9", 900) + " * * * *": "minute", strings.Repeat("* ", 400): "has 400 fields",
	} {
		quick(t, spec, func() {
			_, err := Parse(spec, "")
			wantRefused(t, err, "cron", words)
		})
	}
}

func TestEquivalentExpressions(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"@hourly", "0 * * * *"}, {"@Daily", "0 0 * * *"}, {"@midnight", "0 0 * * *"}, {"@monthly", "0 0 1 * *"},
		{"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 jan ?"}, {"  05 \t 0 * * *  ", "5 0 * * *"},
		{"*/15 * * * *", "0,15,30,45 * * * *"}, {"5/20 * * * *", "5,25,45 * * * *"}, {"10-30/10 * * * *", "10,20,30 * * * *"},
		{"0 0 * JAN,Mar-may *", "0 0 * 1,3,4,5 *"}, {"0 0 * * MON-FRI", "0 0 * * 1-5"}, {"0 0 * * 5-7", "0 0 * * 0,5,6"},
		{"0 0 * * */2", "0 0 * * 0,2,4,6"}, {"0 0 * * 1/2", "0 0 * * 1,3,5"}, {"0 0 * * 0-7", "0 0 * * 0-6"},
		{"0 0 */1 * 1", "0 0 * * 1"}, {"0 0 1,* * 1", "0 0 ? * mon"}, {"0 0 */16 * 1", "0 0 1,17 * 1"}, {"59 59 23 31 12 ?", "59 59 23 31 DEC *"},
	} {
		a, b := must(t, pair[0], ""), must(t, pair[1], "")
		x, y := a.Upcoming(at(t, "2026-02-27T00:00:00Z"), 60), b.Upcoming(at(t, "2026-02-27T00:00:00Z"), 60)
		for i := range x {
			if len(x) != 60 || !x[i].Equal(y[i]) {
				t.Errorf("%q and %q differ: %v, %v", pair[0], pair[1], x[i], y[i])
				break
			}
		}
	}
}

// Every value of every field written out is the longest useful expression.
func TestLongestExpressionFits(t *testing.T) {
	t.Parallel()
	var texts []string
	for _, f := range fields {
		texts = append(texts, strings.Join(words{english}.items(set{bits: (1<<f.max<<1 - 1) >> f.min << f.min & 0x5555555555555555}, plain), ","))
	}
	spec := strings.Join(texts, " ")
	quick(t, spec, func() {
		s := must(t, spec, "Europe/London")
		s.Next(at(t, "2026-01-01T00:00:00Z"))
		s.Words()
	})
}

func FuzzParse(f *testing.F) {
	for _, spec := range []string{"* * * * *", "*/5 9-17 * * mon-fri", "0 0 13 * 5", "0 0 29 2 *", "0 0 30 2 *", "30 2 L * ?", "@every 90s",
		"@daily", "5-1/0 * * * *", "٣ * * * *", "0 0 0 1,L */3 7", "@every 1h\x00", "1-2-3,4/5 * * * *", "59 59 23 31 12 6", "TZ=UTC * * * * *"} {
		for _, zone := range []string{"", "America/New_York", "Asia/Beirut", "../etc/passwd", "Local"} {
			f.Add(spec, zone, int64(1_772_953_199))
		}
	}
	f.Fuzz(func(t *testing.T, spec, zone string, from int64) {
		began := time.Now()
		s, err := Parse(spec, zone)
		if err != nil {
			wantRefused(t, err, err.(*Error).Field, "")
			return
		}
		again, err := Parse(s.Spec(), s.Zone())
		if err != nil || again.Words() != s.Words() || s.Words() == "" {
			t.Fatalf("%q read back: %v", s.Spec(), err)
		}
		now := time.Unix(from%400_000_000_000, 0)
		for _, fire := range s.Upcoming(now, 20) {
			if !fire.After(now) || !fire.Equal(again.Next(now)) {
				t.Fatalf("%q: %v after %v", spec, fire, now)
			}
			now = fire
		}
		if took := time.Since(began); took > time.Second { // 10 ms, and patience with a busy machine
			t.Fatalf("%q took %v", spec, took)
		}
	})
}
