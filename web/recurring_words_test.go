package web

import (
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs/schedule"
	"github.com/tekrar/tekrar/views/locale"
)

func TestScheduleWords(t *testing.T) {
	t.Parallel()
	turkish, err := locale.New("tr", "Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	start, end := time.Date(2026, 5, 5, 12, 0, 0, 0, time.UTC), time.Date(2026, 12, 31, 21, 0, 0, 500_000, time.UTC)
	for _, c := range []struct {
		spec, zone string
		start, end *time.Time
		want       string
	}{
		{"0 9 * * 1-5", "Europe/Istanbul", nil, nil, "Pazartesi–cuma saat 09:00, Europe/Istanbul saatiyle"},
		{"0 9,17 * * 6,0", "", nil, nil, "Pazar ve cumartesi saat 09:00 ve 17:00, UTC"},
		{"@daily", "", nil, nil, "Her gün saat 00:00, UTC"},
		{"@hourly", "", nil, nil, "Her saatin 0. dakikasında, UTC"},
		{"5,35 * * * *", "", nil, nil, "Her saatin 5 ve 35. dakikalarında, UTC"},
		{"*/5 * * * *", "", nil, nil, "Her 5 dakikada bir, UTC"},
		{"*/10 9-17 * * 1-5", "", nil, nil, "Pazartesi–cuma her 10 dakikada bir, 09:00–17:59 arasında, UTC"},
		{"@yearly", "", nil, nil, "Ocak ayında ayın 1. günü saat 00:00, UTC"},
		{"0 0 1,15,L * *", "", nil, nil, "Ayın 1 ve 15. günleri ve ayın son günü saat 00:00, UTC"},
		{"0 0 13 * 5", "", nil, nil, "Ayın 13. günü ya da cuma saat 00:00, UTC"},
		{"0 0 * 1,3,6-8 *", "", nil, nil, "Ocak, mart ve haziran–ağustos ayında her gün saat 00:00, UTC"},
		{"* 0,30 3 * * *", "", nil, nil, "Her saniye, 0 itibarıyla her 30. dakikada, saat 3 içinde, UTC"},
		{"@every 1m", "", nil, nil, "Her dakika"},
		{"@every 49h30m", "", nil, nil, "2 gün, 1 saat ve 30 dakika arayla"},
		{"30 2 * * *", "America/New_York", &start, &end, "Her gün saat 02:30, America/New_York saatiyle, başlangıç: 05.05.2026 08:00:00 -04:00, bitiş: 31.12.2026 16:00:00.0005 -05:00"},
		{"@every 24h", "", &start, nil, "Her gün, sayımın başlangıcı: 05.05.2026 12:00:00 UTC"},
		{"0 9 * *", "", nil, nil, ""}, {"0 9 * * *", "Europe/Atlantis", nil, nil, ""}, {"0 9 * * *", "", &end, &start, ""},
	} {
		if got := wordsIn(turkish, c.spec, c.zone, c.start, c.end); got != c.want {
			t.Errorf("%s: %q, want %q", c.spec, got, c.want)
		}
	}
}

// No phrase is left in English, and English is what package schedule says itself.
func TestScheduleWordsOfEveryShape(t *testing.T) {
	t.Parallel()
	turkish, err := locale.New("tr", "")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 5, 5, 12, 0, 0, 0, time.UTC)
	times := []string{"*", "0", "*/2", "*/3", "*/15", "7", "5,13", "0-2", "3,9-11"}
	days := []string{"* * *", "13 * 5", "1,15,L 2,6-8 *", "* 1-12 0,1", "L * 1-6", "* 3-5,9-11 *"}
	for _, second := range times {
		for _, minute := range times {
			for _, hour := range times {
				for _, day := range days {
					spec := strings.Join([]string{second, minute, hour, day}, " ")
					s, err := schedule.Parse(spec, "Europe/Istanbul")
					if err != nil {
						t.Fatal(err)
					}
					if s, err = s.Within(schedule.Bounds{Start: start, End: start.AddDate(9, 0, 0)}); err != nil {
						t.Fatal(err)
					}
					if got := s.Say((*locale.Locale)(nil).Say); got != s.Words() {
						t.Fatalf("%s: %q on the page, %q elsewhere", spec, got, s.Words())
					}
					said := " " + strings.ToLower(s.Say(turkish.Say)) + " "
					for _, english := range []string{" every ", " at ", " of ", " in ", " on ", " or ", " and ", " to ", " from ", " until ", " day ", " minute", " hour", " second", " time,", "%!"} {
						if strings.Contains(said, english) {
							t.Fatalf("%s: %q has %q", spec, said, english)
						}
					}
				}
			}
		}
	}
}

// wordsIn is a schedule in a language, "" when it cannot be read.
func wordsIn(in *locale.Locale, spec, zone string, start, end *time.Time) string {
	s, err := schedule.Parse(spec, zone)
	if err != nil {
		return ""
	}
	var b schedule.Bounds
	if start != nil {
		b.Start = *start
	}
	if end != nil {
		b.End = *end
	}
	if s, err = s.Within(b); err != nil {
		return ""
	}
	return s.Say(in.Say)
}
