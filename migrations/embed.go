// Package migrations holds the SQL that builds Tekrar's schema, one numbered
// goose file a step. The files name no schema: they run with search_path set
// to the configured one (default "tekrar").
package migrations

import "embed"

// FS holds the numbered .sql files.
//
//go:embed *.sql
var FS embed.FS
