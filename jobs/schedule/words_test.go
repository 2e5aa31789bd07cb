package schedule

import "testing"

func TestWords(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"* * * * *":                 "Every minute",
		"*/5 * * * *":               "Every 5 minutes",
		"* * * * * *":               "Every second",
		"*/15 * * * * *":            "Every 15 seconds",
		"@hourly":                   "At minute 0 of every hour",
		"5,35 * * * *":              "At minutes 5 and 35 of every hour",
		"*/7 * * * *":               "At minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour",
		"0 */2 * * *":               "At minute 0, every 2 hours",
		"*/10 9-17 * * 1-5":         "Every 10 minutes, from 09:00 to 17:59 on Monday to Friday",
		"* 3,5 * * *":               "Every minute, in hours 3 and 5",
		"10 30 * * * *":             "At second 10, at minute 30 of every hour",
		"* 0,30 3 * * *":            "Every second, in every 30th minute from 0, in hour 3",
		"* */2 * * *":               "Every minute, in every 2nd hour from 00:00",
		"10 */5 * * * *":            "At second 10, every 5 minutes",
		"* 5,7 * * * *":             "Every second, at minutes 5 and 7 of every hour",
		"*/20 */3 * * * *":          "Every 20 seconds, in every 3rd minute from 0",
		"@daily":                    "At 00:00 every day",
		"30 2 * * *":                "At 02:30 every day",
		"15 30 2 * * *":             "At 02:30:15 every day",
		"0 9,12,15 * * 0,6":         "At 09:00, 12:00 and 15:00 on Sunday and Saturday",
		"@weekly":                   "At 00:00 on Sunday",
		"@monthly":                  "At 00:00 on day 1 of the month",
		"@yearly":                   "At 00:00 on day 1 of the month in January",
		"0 0 1,15,L * *":            "At 00:00 on days 1 and 15 of the month and the last day of the month",
		"0 0 L * *":                 "At 00:00 on the last day of the month",
		"0 0 13 * 5":                "At 00:00 on day 13 of the month or on Friday",
		"0 0 * 1,3,6-8 *":           "At 00:00 every day in January, March and June to August",
		"*/30 * 13 feb mon,tue,wed": "Every 30 minutes on day 13 of the month or on Monday to Wednesday in February",
		"@every 1m":                 "Every minute",
		"@every 90s":                "Every 1 minute and 30 seconds",
		"@every 49h":                "Every 2 days and 1 hour",
	} {
		got := must(t, spec, "").Words()
		if spec[:2] != "@e" {
			want += ", UTC"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", spec, got, want)
		}
	}
	noon := at(t, "2026-05-05T12:00:00Z")
	s, _ := must(t, "30 2 * * *", "America/New_York").Within(Bounds{Start: noon, End: noon.AddDate(1, 0, 0)})
	if got := s.Words(); got != "At 02:30 every day, America/New_York time, from 2026-05-05 08:00:00 -04:00, until 2027-05-05 08:00:00 -04:00" {
		t.Error(got)
	}
	s, _ = must(t, "@every 24h", "").Within(Bounds{Start: noon})
	if got := s.Words(); got != "Every day, counted from 2026-05-05 12:00:00 UTC" {
		t.Error(got)
	}
	if got := (Schedule{}).Words(); got != "Never" {
		t.Error(got)
	}
}
