package store

// PageReadings gives the statements of the pages Claims and Calls to tests that
// look at their plans.
func PageReadings(db *DB) map[string]Reading {
	const oldest, newest = `'2020-01-01', 'k', 51`, `'2030-01-01', 'k', 51`
	return map[string]Reading{
		"unsettled":     {db.sql(openEffects), oldest},
		"unknown":       {db.sql(unknownEffects), oldest},
		"done":          {db.sql(doneEffects), newest},
		"released":      {db.sql(freedEffects), newest},
		"by key":        {db.sql(effectsByKey), `'{k1,k2}'`},
		"totals":        {db.sql(effectTotal), `10001`},
		"pending":       {db.sql(pending), `10001`},
		"late receipts": {db.sql(lateReceipts), `'k1'`},
		"duplicates":    {db.sql(duplicatesSince), `86400000000, 10001`},
		"attempts":      {db.sql(attemptSpans), `'{1,2}', 200`},
		"results":       {db.sql(newestResults), `'k1', 20`},
		"calls":         {db.sql(callList + ` order by id desc limit $2`), `9223372036854775807, 51`},
		"job's calls":   {db.sql(callList + ` and job_id = $3 order by id desc limit $2`), `9223372036854775807, 51, 7`},
		"key's calls":   {db.sql(callList + ` and key = $3 order by id desc limit $2`), `9223372036854775807, 51, 'k7'`},
		"keys' calls":   {db.sql(keyCalls), `9223372036854775807, 51, '{k7}'`},
		"calls by id":   {db.sql(callsByID), `'{1,2}'`},
		"call stats":    {db.sql(callStats), `10001`},
		"call warnings": {db.sql(callWarnings), `10000`},
	}
}
