package views

import (
	"crypto/sha256"
	"encoding/hex"
)

// partID is an element id for a name that may hold anything: spaces, quotes, emoji.
// A hash keeps it valid, short and the same in every rendering.
func partID(prefix, name string) string {
	sum := sha256.Sum256([]byte(name))
	return prefix + "-" + hex.EncodeToString(sum[:6])
}

// ended says that the process runs no more jobs.
func (s ServerProps) ended() bool { return s.StoppedAt != nil || s.LostAt != nil }
