package store

// EffectWritings gives the statements on effect claims to tests that look at their plans.
func EffectWritings(db *DB) map[string]Reading {
	return map[string]Reading{
		"first":   {db.sql(firstEffect), `'k', '', 1, 1, 1, 'h', 1000, true, 0`},
		"claim":   {db.sql(claimEffect), `'k', '', 1, 1, 1, 'h', 1000, true, 0, false`},
		"look":    {db.sql(lookEffect), `'k'`},
		"begin":   {db.sql(beginEffect), `'k', 1, 1000, 10`},
		"expired": {db.sql(expiredEffect), `'k', 1, 1000, 10`},
		"settle":  {db.sql(settleEffect), `'k', 1, 5, ''`},
		"extend":  {db.sql(extendEffect), `'k', 1, 1000`},
		"done":    {db.sql(doneEffect), `'k', 1, '{}'`},
		"finish":  {db.sql(finishEffect), `'k', 1, '{}', 1, 1, 1`},
		"doubt":   {db.sql(doubtEffect), `'k', 1`},
		"undoubt": {db.sql(undoubtEffect), `'k', 1`},
		"reserve": {db.sql(reserveEffect), `'k', '', 'h'`},
		"sweep":   {db.sql(sweepEffects), `'-infinity', '', 3`},
		"purge":   {db.sql(purgeStatement), `'-infinity', '', 1000, 1000, 4`},
		"dry run": {db.sql(dryRunStatement), `'-infinity', '', 1000, 1000, 4`},
		"decide":  {db.sql(sendAgain), `'k', 1, 'a', '', 0`},
		"of job":  {db.sql(`select ` + effectColumns + `, ` + effectDuplicates + ` from tekrar.effect_claims c where c.job_id = $1 order by c.key limit 100`), `1`},
	}
}
