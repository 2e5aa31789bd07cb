package views

import "strings"

// quotedTerm is a value as a query spells it.
func quotedTerm(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\r\n\"") {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
