package idempotency

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A suspicion is a text within a key and what it looks like.
type suspicion struct{ text, looks string }

var (
	uuidShape    = regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	clockShape   = regexp.MustCompile(`(?:^|[^0-9:])(([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])(\.[0-9]+)?)(?:[^0-9:]|$)`)
	compactShape = regexp.MustCompile(`(19|20)[0-9]{6}T?[0-9]{6}`)
	attemptShape = regexp.MustCompile(`(?i)^(attempt|try|retry|run)[-_. ]?[0-9]+$`)
	hexShape     = regexp.MustCompile(`(?i)[0-9a-f]{16,}`)
	// Numbers with a known form that look as if rolled: car chassis and parcels.
	knownShape = regexp.MustCompile(`^([A-HJ-NPR-Z0-9]{12}[0-9]{5}|1Z[0-9A-Z]{6}[0-9]{10})$`)
)

// suspect looks for what changes from run to run in one part of a key. now is for
// numbers that may be Unix times: a number is one if it is of these days.
func suspect(part string, now time.Time) (found []suspicion) {
	add := func(text, looks string) { found = append(found, suspicion{text, looks}) }
	if len(part) >= 36 && strings.Contains(part, "-") {
		if m := uuidShape.FindString(part); m != "" {
			add(m, "a random UUID")
			return found
		}
	}
	if strings.Contains(part, ":") {
		// On the hour it is a slot of a plan, not a moment.
		if m := clockShape.FindStringSubmatch(part); m != nil && !(m[3] == "00" && m[4] == "00" && strings.Trim(m[5], ".0") == "") {
			add(m[1], "a time")
		}
	}
	if m := compactTime(part); m != "" && !strings.HasSuffix(m, "0000") {
		if at, err := time.Parse("20060102150405", strings.Replace(m, "T", "", 1)); err == nil && recent(at, now) {
			add(m, "a time")
		}
	}
	for start, end := 0, 0; start < len(part); start = max(end, start+1) {
		for end = start; end < len(part) && digit(part[end]); end++ {
		}
		digits := part[start:end]
		alone := end > start && (start == 0 || !letter(part[start-1])) && (end == len(part) || !letter(part[end]))
		if alone && unixTime(digits, now) {
			add(digits, "a Unix time")
		} else if alone && len(digits) >= 16 {
			add(digits, "a random number")
		}
	}
	known := (len(part) == 17 || len(part) == 18) && knownShape.MatchString(part) || isIBAN(part)
	for _, m := range longHex(part) {
		if !known && strings.ContainsAny(m, "0123456789") && strings.ContainsAny(m, "abcdefABCDEF") {
			add(m, "random hexadecimal digits")
		}
	}
	if len(found) == 0 && !known && rolled(part) {
		add(part, "random characters")
	}
	return found
}

func compactTime(part string) string {
	if len(part) < 14 {
		return ""
	}
	return compactShape.FindString(part)
}

func longHex(part string) []string {
	if len(part) < 16 {
		return nil
	}
	return hexShape.FindAllString(part, -1)
}

// recent is what a clock read in this run could say, with room for clocks that are
// wrong and jobs that waited.
func recent(at, now time.Time) bool {
	return at.After(now.Add(-7*24*time.Hour)) && at.Before(now.Add(24*time.Hour))
}

func unixTime(digits string, now time.Time) bool {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return false
	}
	switch len(digits) {
	case 10:
		return recent(time.Unix(n, 0), now)
	case 13:
		return recent(time.UnixMilli(n), now)
	case 16:
		return recent(time.UnixMicro(n), now)
	case 19:
		return recent(time.Unix(0, n), now)
	}
	return false
}

// follows lists which letters follow a letter in words of European languages.
var follows = [26]string{
	"bcdfghiklmnprstuvwxy", "abeijloprstuy", "acdeghiklmnopqrstuvy", "adefgijlmnoprstuvwy",
	"abcdefghilmnopqrstuvwxy", "acdefhiloprstuy", "acefghilmnoprstu", "adeilmnorstuy",
	"abcdefgklmnoprstvxz", "aeou", "adefilnprsuy", "abcdefgiklnoprstuvy", "abcdegiklmnopstu",
	"abcdefghijklmnopqrstuvwy", "abcdefgiklmnoprstuvwxy", "acdefghiloprstuy", "u",
	"abcdefghiklmnoprstuvwy", "acefghiklmnopstuwy", "acdefghilmoprstuvwxyz", "abcdefgilmnoprstx",
	"aeimor", "aehilnoprs", "aceipt", "aceimnopstw", "aeio",
}

// rolled tells dice from words by what two neighbours seldom are in what people
// make up: a digit beside a letter (less so of a longer number), a small beside a
// capital letter that begins no word, letters that follow each other in no word.
func rolled(s string) bool {
	n, odd, digits, breaks, capitals := 0, 0, 0, 0, 0
	for i := 0; i < len(s); i++ {
		if !digit(s[i]) && !letter(s[i]) {
			breaks++
			continue
		}
		n++
		if digit(s[i]) {
			digits++
		} else if !lower(s[i]) {
			capitals++
		}
		if i == 0 || !digit(s[i-1]) && !letter(s[i-1]) {
			continue
		}
		a, b := s[i-1], s[i]
		switch {
		case digit(a) && digit(b), size(s, i), size(s, i-1):
		case digit(a):
			odd += oddNumber(i >= 2 && digit(s[i-2]))
		case digit(b):
			odd += oddNumber(i+1 < len(s) && digit(s[i+1]))
		case lower(a) && !lower(b):
			if begins := i >= 2 && lower(s[i-2]) && i+1 < len(s) && lower(s[i+1]); !begins {
				odd += 2
			}
		case !lower(a) && lower(b):
			if begins := i < 2 || !letter(s[i-2]) || lower(s[i-2]); !begins {
				odd += 2
			}
		case strings.IndexByte(follows[a|0x20-'a'], b|0x20) < 0:
			odd += 2
		}
	}
	// Long names of several words gather a few oddities; dice without any digit are rare.
	switch mixed := capitals > 0 && capitals+digits < n; {
	case n < 15:
		return false
	case breaks >= 2 && !mixed || breaks == 0 && digits == 0:
		return odd >= 10 && 3*odd > n
	}
	return odd >= 5 && 5*odd > n
}

// size reports the x of 20x30.
func size(s string, i int) bool {
	return i > 0 && i+1 < len(s) && s[i]|0x20 == 'x' && digit(s[i-1]) && digit(s[i+1])
}

func oddNumber(long bool) int {
	if long {
		return 1
	}
	return 2
}

func digit(c byte) bool  { return c >= '0' && c <= '9' }
func lower(c byte) bool  { return c >= 'a' && c <= 'z' }
func letter(c byte) bool { return lower(c) || c >= 'A' && c <= 'Z' }

// isIBAN tests an account number by its check digits.
func isIBAN(s string) bool {
	if len(s) < 15 || len(s) > 34 || !digit(s[2]) || !digit(s[3]) {
		return false
	}
	sum := 0
	for _, c := range []byte(s[4:] + s[:4]) {
		switch {
		case digit(c):
			sum = (sum*10 + int(c-'0')) % 97
		case c >= 'A' && c <= 'Z':
			sum = (sum*100 + int(c-'A') + 10) % 97
		default:
			return false
		}
	}
	return sum == 1
}
