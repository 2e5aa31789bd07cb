package locale

import (
	"strings"
	"testing"
	"time"
)

func in(t *testing.T, lang, zone string) *Locale {
	t.Helper()
	l, err := New(lang, zone)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestFormats(t *testing.T) {
	t.Parallel()
	var en *Locale // nil is English and UTC
	tr := in(t, "tr", "Europe/Istanbul")
	now := time.Date(2026, 3, 14, 23, 9, 26, 535_000_000, time.UTC)
	for _, c := range []struct{ en, wantEN, tr, wantTR string }{
		{en.Number(0), "0", tr.Number(0), "0"},
		{en.Number(999), "999", tr.Number(999), "999"},
		{en.Number(1000), "1,000", tr.Number(1000), "1.000"},
		{en.Number(-1234567), "-1,234,567", tr.Number(-1234567), "-1.234.567"},
		{en.Decimal(1234.56, 1), "1,234.6", tr.Decimal(1234.56, 1), "1.234,6"},
		{en.Percent(0, 0), "–", tr.Percent(0, 0), "–"},
		{en.Percent(9999, 10000), "99.9 %", tr.Percent(9999, 10000), "%99,9"},
		{en.Percent(5, 5), "100 %", tr.Percent(5, 5), "%100"},
		{en.Percent(0, 5), "0 %", tr.Percent(0, 5), "%0"},
		{en.Percent(1, 5000), "< 0.1 %", tr.Percent(1, 5000), "< %0,1"},
		{en.Rate(0), "0", tr.Rate(0), "0"},
		{en.Rate(7.25), "7.2", tr.Rate(7.25), "7,2"},
		{en.Rate(512.4), "512", tr.Rate(512.4), "512"},
		{en.Duration(42 * time.Microsecond), "42 µs", tr.Duration(42 * time.Microsecond), "42 µs"},
		{en.Duration(3 * time.Millisecond), "3.0 ms", tr.Duration(3 * time.Millisecond), "3,0 ms"},
		{en.Duration(412 * time.Millisecond), "412 ms", tr.Duration(412 * time.Millisecond), "412 ms"},
		{en.Duration(999600 * time.Microsecond), "1.00 s", tr.Duration(999600 * time.Microsecond), "1,00 sn"},
		{en.Duration(10009 * time.Millisecond), "10.0 s", tr.Duration(10009 * time.Millisecond), "10,0 sn"},
		{en.Duration(59960 * time.Millisecond), "1 min 0 s", tr.Duration(59960 * time.Millisecond), "1 dk 0 sn"},
		{en.Duration(15483 * time.Second), "4 h 18 min", tr.Duration(15483 * time.Second), "4 sa 18 dk"},
		{en.Duration(50 * time.Hour), "2 d 2 h", tr.Duration(50 * time.Hour), "2 g 2 sa"},
		{en.Duration(-time.Second), "-1.00 s", tr.Duration(-time.Second), "-1,00 sn"},
		{en.Relative(now.Add(-12*time.Second), now), "12 s ago", tr.Relative(now.Add(-12*time.Second), now), "12 sn önce"},
		{en.Relative(now.Add(5*time.Minute), now), "in 5 min", tr.Relative(now.Add(5*time.Minute), now), "5 dk sonra"},
		{en.Relative(now, now), "now", tr.Relative(now, now), "şimdi"},
		{en.Relative(now.Add(-72*time.Hour), now), "3 d ago", tr.Relative(now.Add(-72*time.Hour), now), "3 g önce"},
		{en.Since(now.Add(time.Hour), now), "0 s", tr.Since(now.Add(time.Hour), now), "0 sn"},
		{en.Stamp(now), "2026-03-14 23:09:26.535 UTC", tr.Stamp(now), "15.03.2026 02:09:26.535 +03:00"},
		{en.Clock(now), "23:09", tr.Clock(now), "02:09"},
		{en.Seconds(now), "23:09:26", tr.Seconds(now), "02:09:26"},
		{en.List(nil), "", tr.List(nil), ""},
		{en.List([]string{"a"}), "a", tr.List([]string{"a"}), "a"},
		{en.List([]string{"a", "b", "c"}), "a, b and c", tr.List([]string{"a", "b", "c"}), "a, b ve c"},
		{en.Plural(1, "1 retry", "%d retries"), "1 retry", tr.Plural(1, "1 retry", "%d retries"), "1 yeniden deneme"},
		{en.Plural(2000, "1 retry", "%d retries"), "2,000 retries", tr.Plural(2000, "1 retry", "%d retries"), "2.000 yeniden deneme"},
		{en.Say("nobody translated %s", "this"), "nobody translated this", tr.Say("nobody translated %s", "this"), "nobody translated this"},
		{en.Say("Try again in %s.", 91*time.Second), "Try again in 1 min 31 s.", tr.Say("%s and %s", 91*time.Second, 1500*time.Millisecond), "1 dk 31 sn ve 1,50 sn"},
		{en.Say("%s, from %s", "x", now), "x, from 2026-03-14 23:09:26.535 UTC", tr.Say("%s, from %s", "x", now.In(time.FixedZone("", 5400))), "x, başlangıç: 15.03.2026 00:39:26.535 +01:30"},
		{en.Tag() + " " + en.Zone(), "en UTC", tr.Tag() + " " + tr.Zone(), "tr Europe/Istanbul"},
	} {
		if c.en != c.wantEN || c.tr != c.wantTR {
			t.Errorf("got %q and %q, want %q and %q", c.en, c.tr, c.wantEN, c.wantTR)
		}
	}
}

// The hour that clocks go through twice is told apart by the zone's offset.
func TestTheDoubledHour(t *testing.T) {
	t.Parallel()
	berlin := in(t, "en", "Europe/Berlin")
	first := time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC)
	if got, again := berlin.Stamp(first), berlin.Stamp(first.Add(time.Hour)); got != "2026-10-25 02:30:00.000 +02:00" || again != "2026-10-25 02:30:00.000 +01:00" {
		t.Errorf("%s, then %s", got, again)
	}
}

func TestUnknownLanguagesAndZones(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"xx", "", `field language: unknown "xx"; known are en, tr`},
		{"EN", "", `field language: unknown "EN"`},
		{"", "Mars/Base", `field zone: unknown "Mars/Base"`},
		{"", "Local", `field zone: unknown "Local"`},
		{"", "../../etc/passwd", `field zone: unknown`},
		{"", strings.Repeat("Z", 500), `field zone: unknown "ZZZZ`},
	} {
		if _, err := New(c[0], c[1]); err == nil || !strings.HasPrefix(err.Error(), c[2]) || len(err.Error()) > 160 {
			t.Errorf("%q %.20q: %v", c[0], c[1], err)
		}
	}
	if a, b := in(t, "tr", "Asia/Tokyo"), in(t, "tr", "Asia/Tokyo"); a != b {
		t.Error("the zone was read twice")
	}
}

func TestPreferred(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"": "en", "tr": "tr", "tr-TR,tr;q=0.9,en-US;q=0.8": "tr", "en-GB,tr;q=0.5": "en", "de,fr;q=0.9": "en",
		"de, tr;q=0.3": "tr", "*": "en", ";;;=": "en", strings.Repeat("tr,", 5000): "tr",
	} {
		if got := Preferred(header); got != want {
			t.Errorf("%.40q: %s, want %s", header, got, want)
		}
	}
}
