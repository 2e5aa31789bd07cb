package locale

import (
	"maps"

	"golang.org/x/text/language"
	"golang.org/x/text/message/catalog"
)

// turkish has a file for each part of the dashboard; each adds its sentences here.
// English is the key and needs no entry.
var turkish = merge(turkishCommon, turkishOverview, turkishJob, turkishCopy, turkishJobs, turkishBulk, turkishAudit, turkishClaims, turkishCalls, turkishRefusals, turkishAttempts, turkishFailures, turkishQueues, turkishRecurring, turkishSchedule, turkishInput)

var sentences = build()

func merge(parts ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, p := range parts {
		maps.Copy(all, p)
	}
	return all
}

// build cannot fail for a catalogue that its test accepts.
func build() catalog.Catalog {
	b := catalog.NewBuilder(catalog.Fallback(language.English))
	for english, said := range turkish {
		if err := b.SetString(language.Turkish, english, said); err != nil {
			panic(err)
		}
	}
	return b
}
