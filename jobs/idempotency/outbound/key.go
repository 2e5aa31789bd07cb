package outbound

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
)

const (
	maxKeyLength = 255
	// hashMark starts the hash form of a key, so that a log tells it from a key
	// that somebody chose.
	hashMark = "h-"
	// hashLength of the mark and 128 bits in hex: short enough for every profile
	// of this package, and no two keys of one company meet in it.
	hashLength = len(hashMark) + 32
)

// Sent is the key as the provider stores it, without quotes: the key itself, or
// its hash where it is longer than MaxLength or holds anything but printable
// ASCII. A raw key with a quote or a backslash is hashed as well, since a
// provider that reads structured strings would see another key in it. Providers
// without keys get "". An empty key and a MaxLength below 34 are refused.
func (p Profile) Sent(key string) (string, error) {
	limit := or(p.MaxLength, maxKeyLength)
	switch {
	case key == "":
		return "", errors.New("key is empty")
	case !p.Honours():
		return "", nil
	case limit < hashLength:
		return "", errors.New("MaxLength is below 34, the length of a hashed key")
	case len(key) <= limit && plain(key) && (p.Form == Quoted || !strings.ContainsAny(key, `"\`)):
		return key, nil
	}
	sum := sha256.Sum256([]byte(key))
	return hashMark + hex.EncodeToString(sum[:16]), nil
}

// plain allows printable ASCII. A space at an end would be lost on the way.
func plain(key string) bool {
	for i := range len(key) {
		if key[i] < ' ' || key[i] > '~' {
			return false
		}
	}
	return strings.TrimSpace(key) == key
}

// headerValue writes a key that Sent returned in the provider's form.
func (p Profile) headerValue(sent string) string {
	if p.Form == Quoted {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(sent) + `"`
	}
	return sent
}
