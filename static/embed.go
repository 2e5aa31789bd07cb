// Package static holds the stylesheet and the scripts of the dashboard, and
// serves them under names that carry a hash of their content.
package static

import "embed"

// FS holds the files as they are in the repository.
//
//go:embed *.css *.js vendor
var FS embed.FS
