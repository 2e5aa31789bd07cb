package store

import (
	"database/sql/driver"
	"errors"
	"strings"

	"github.com/lib/pq"
)

// errDiscard makes the pool throw a connection away.
var errDiscard = driver.ErrBadConn

// IsData reports whether the server refused the statement for its content
// (classes 22 and 23, or too deep a value): running it again cannot help, but
// the connection is sound and the rest of a batch may pass without the one bad row.
func IsData(err error) bool {
	var e *pq.Error
	if !errors.As(err, &e) {
		return false
	}
	code := string(e.Code)
	return strings.HasPrefix(code, "22") || strings.HasPrefix(code, "23") || code == "54001" || code == "54000"
}
