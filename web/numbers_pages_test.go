package web_test

import (
	"fmt"
	"time"
)

// pagesWithNumbers are the pages of the checker, each with its filters.
func pagesWithNumbers() (all []numbered) {
	add := func(path string, check func(*sheet, frozen)) { all = append(all, numbered{at(path), check}) }
	add("/", numbersOfOverview)
	for state := range lists {
		add("/jobs?state="+state, numbersOfJobs(state, "", "", false, nil))
	}
	add("/jobs?state=failed&kind=broken", numbersOfJobs("failed", "broken", "", true, nil))
	add("/jobs?state=succeeded&queue=reports", numbersOfJobs("succeeded", "", "reports", true, nil))
	add("/jobs?state=failed&q=attempt%3E2", numbersOfJobs("failed", "", "", true, func(j listed) bool { return j.Attempt > 2 }))
	all = append(all, numbered{func(q frozen) string {
		var g struct {
			Kind        string
			Fingerprint int64
		}
		q.get(&g, `select kind, fingerprint from tekrar.failed group by 1, 2 order by count(*) desc, 1, 2 limit 1`)
		return fmt.Sprintf("/jobs?state=failed&kind=%s&group=%016x", g.Kind, uint64(g.Fingerprint))
	}, numbersOfGroup})
	for _, which := range jobPages {
		all = append(all, numbered{pageOfJob(which), numbersOfJob})
	}
	add("/failures", numbersOfFailures)
	add("/queues", numbersOfQueues)
	add("/queues/orders", numbersOfOneQueue) // its failed jobs keep it, whatever becomes of servers
	for span, v := range map[string][2]time.Duration{
		"1h": {time.Hour, time.Minute}, "6h": {6 * time.Hour, 5 * time.Minute}, "24h": {24 * time.Hour, 15 * time.Minute},
		"7d": {7 * 24 * time.Hour, 2 * time.Hour}, "30d": {30 * 24 * time.Hour, 8 * time.Hour},
	} {
		add("/attempts?span="+span, numbersOfAttempts(v[0], v[1], "", ""))
	}
	add("/attempts?span=1h&scale=share&kind=shaky&queue=default", numbersOfAttempts(time.Hour, time.Minute, "shaky", "default"))
	add("/servers", numbersOfServers)
	for tab := range claimTabStates {
		add("/claims?tab="+tab, numbersOfClaims(tab))
	}
	add("/calls", numbersOfCalls)
	add("/audit", numbersOfAudit)
	all = append(all, numbered{pageOfBulk, numbersOfBulk})
	add("/recurring", numbersOfRecurring)
	add("/recurring/often", numbersOfOneRecurring("often"))
	add("/demo", numbersOfDemo)
	return all
}
