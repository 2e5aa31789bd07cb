package schedule_test

import (
	"fmt"
	"time"

	"github.com/tekrar/tekrar/jobs/schedule"
)

// The two clock changes of a year: a fixed time is never lost and never doubled.
func ExampleSchedule_Next() {
	s, err := schedule.Parse("30 2 * * *", "Europe/Berlin")
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Words())
	for _, day := range []string{"2026-03-28T12:00:00Z", "2026-10-24T12:00:00Z"} {
		at, err := time.Parse(time.RFC3339, day)
		if err != nil {
			panic(err)
		}
		for range 3 {
			at = s.Next(at)
			fmt.Println(at.In(s.Location()).Format("2 January 15:04 MST"))
		}
	}
	// Output:
	// At 02:30 every day, Europe/Berlin time
	// 29 March 03:00 CEST
	// 30 March 02:30 CEST
	// 31 March 02:30 CEST
	// 25 October 02:30 CEST
	// 26 October 02:30 CET
	// 27 October 02:30 CET
}

// What becomes of the fires of three hours without a server.
func ExampleMissed() {
	s, err := schedule.Parse("@hourly", "")
	if err != nil {
		panic(err)
	}
	last := time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC)
	now := last.Add(3*time.Hour + 10*time.Minute)
	for _, mode := range []schedule.Misfire{schedule.RunOnce, schedule.RunAll, schedule.Skip} {
		fmt.Print(mode, ":")
		for _, fire := range schedule.Missed(s, last, now, mode, 0) {
			fmt.Print(" ", fire.Format("15:04"))
		}
		fmt.Println()
	}
	// Output:
	// run_once: 11:00
	// run_all: 09:00 10:00 11:00
	// skip:
}
