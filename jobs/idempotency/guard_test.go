package idempotency_test

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs/idempotency"
)

const keysAClass = 20_000

var now = time.Date(2026, 11, 29, 19, 33, 7, 123456789, time.UTC)

// measured makes 20,000 keys of a class and returns how many the guard flags, and
// one that it judged unlike the others.
func measured(class func() any, flagged bool) (n int, odd string) {
	for range keysAClass {
		k := idempotency.NewKey("invoice-email", class())
		if looks := idempotency.Unstable(k, now); looks != "" {
			if n++; !flagged {
				odd = k.String() + " looks like " + looks
			}
		} else if flagged {
			odd = k.String()
		}
	}
	return n, odd
}

func chars(alphabet string, n int) func() any {
	return func() any {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[mathrand.IntN(len(alphabet))]
		}
		return string(b)
	}
}

func bytes(n int) []byte { b := make([]byte, n); rand.Read(b); return b }

const (
	digits  = "0123456789"
	small   = "abcdefghijklmnopqrstuvwxyz"
	capital = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

func uuid(version byte) func() any {
	return func() any {
		b := bytes(16)
		b[6], b[8] = b[6]&0x0f|version<<4, b[8]&0x3f|0x80
		return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	}
}

func moment() time.Time { return now.Add(-time.Duration(mathrand.Int64N(int64(6 * time.Hour)))) }

func TestGuardFlagsWhatChanges(t *testing.T) {
	t.Parallel()
	for name, class := range map[string]func() any{
		"UUID 4":                uuid(4),
		"UUID 7":                uuid(7),
		"UUID in a text":        func() any { return "req-" + uuid(4)().(string) },
		"UUID without dashes":   func() any { return strings.ReplaceAll(uuid(4)().(string), "-", "") },
		"16 hex":                func() any { return hex.EncodeToString(bytes(8)) },
		"40 hex":                func() any { return hex.EncodeToString(bytes(20)) },
		"ULID":                  func() any { return "01KB" + chars("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 22)().(string) },
		"KSUID":                 chars(digits+small+capital, 27),
		"base62, 22":            chars(digits+small+capital, 22),
		"nanoid":                chars(digits+small+capital+"-_", 21),
		"xid":                   chars("0123456789abcdefghijklmnopqrstuv", 20),
		"cuid":                  func() any { return "c" + chars(digits+small, 24)().(string) },
		"crypto/rand.Text":      func() any { return rand.Text() },
		"base64, 16 bytes":      func() any { return base64.RawURLEncoding.EncodeToString(bytes(16)) },
		"base64, 32 bytes":      func() any { return base64.RawURLEncoding.EncodeToString(bytes(32)) },
		"rand.Uint64":           func() any { return mathrand.Uint64() | 1<<56 },
		"Unix seconds":          func() any { return moment().Unix() },
		"Unix milliseconds":     func() any { return moment().UnixMilli() },
		"Unix nanoseconds":      func() any { return moment().UnixNano() },
		"time.Time":             func() any { return moment() },
		"time in words":         func() any { return moment().Format(time.DateTime) },
		"time without signs":    func() any { return moment().Format("20060102150405") },
		"RFC 1123":              func() any { return moment().Format(time.RFC1123) },
		"attempt":               func() any { return fmt.Sprintf("attempt-%d", mathrand.IntN(100)) },
		"Unix time and a count": func() any { return fmt.Sprintf("%d-%d", moment().Unix(), mathrand.IntN(1000)) },
	} {
		if n, missed := measured(class, true); n < keysAClass*999/1000 {
			t.Errorf("%s: %d of %d flagged, want 99.9 %%; missed %s", name, n, keysAClass, missed)
		}
	}
}

var words = strings.Fields(`invoice order supplier payment reminder monthly report stock warehouse north south customer
	refund shipment newsletter welcome password reset export import backup cleanup quarterly statement dunning notice
	berlin istanbul zuerich rechnung lieferung bestellung mahnung zahlungseingang fatura siparis musteri teslimat
	facture commande livraison subscription renewal cancellation settlement reconciliation exchange rates webhook
	synchronization configuration authentication thumbnail transcription localization westphalia gloucestershire`)

func someWords(n int, sep string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = words[mathrand.IntN(len(words))]
	}
	return strings.Join(list, sep)
}

func iban() any {
	body := chars(digits, 18)().(string)
	n := 0
	for _, c := range body + "131400" {
		n = (n*10 + int(c-'0')) % 97
	}
	return fmt.Sprintf("DE%02d%s", 98-n, body)
}

func camel() any {
	s := ""
	for range 3 {
		w := someWords(1, "")
		s += strings.ToUpper(w[:1]) + w[1:]
	}
	return s
}

func day() string { return now.AddDate(0, 0, -mathrand.IntN(3000)).Format(time.DateOnly) }

func TestGuardPassesWhatIsNatural(t *testing.T) {
	t.Parallel()
	for name, class := range map[string]func() any{
		"small numbers":   func() any { return mathrand.IntN(1_000_000_000) },
		"invoice numbers": func() any { return fmt.Sprintf("INV-%d-%06d", 2000+mathrand.IntN(40), mathrand.IntN(1e6)) },
		"SAP orders":      func() any { return 4_500_000_000 + mathrand.IntN(99_999_999) },
		"EAN":             func() any { return 4_000_000_000_000 + mathrand.Int64N(399_999_999_999) },
		"ISBN": func() any {
			return fmt.Sprintf("978-%d-%04d-%04d-%d", mathrand.IntN(10), mathrand.IntN(1e4), mathrand.IntN(1e4), mathrand.IntN(10))
		},
		"SKU": func() any {
			return fmt.Sprintf("SKU-%s%d-%s", chars(capital, 2)(), mathrand.IntN(1000), chars(capital, 1)())
		},
		"short codes": chars(digits+capital, 8),
		"IBAN":        iban,
		"parcels":     func() any { return "1Z" + chars(digits+capital, 6)().(string) + chars(digits, 10)().(string) },
		"VAT": func() any {
			return fmt.Sprintf("%s%09d", []string{"DE", "ATU", "TR", "FR"}[mathrand.IntN(4)], mathrand.IntN(1e9))
		},
		"days":          func() any { return day() },
		"days, compact": func() any { return strings.ReplaceAll(day(), "-", "") },
		"hours":         func() any { return now.Add(-time.Duration(mathrand.IntN(9999)) * time.Hour).Truncate(time.Hour) },
		"months":        func() any { return day()[:7] },
		"slugs":         func() any { return someWords(2+mathrand.IntN(3), "-") },
		"camel case":    camel,
		"constants":     func() any { return strings.ToUpper(someWords(3, "_")) },
		"e-mail": func() any {
			return someWords(1, "") + "." + someWords(1, "") + fmt.Sprint(mathrand.IntN(100)) + "@example.com"
		},
		"files": func() any {
			return "exports/" + day() + "/" + someWords(2, "_") + fmt.Sprintf("_%04d.csv", mathrand.IntN(1e4))
		},
		"phone":           func() any { return fmt.Sprintf("+49%010d", mathrand.Int64N(1e10)) },
		"versions":        func() any { return fmt.Sprintf("v%d.%d.%d", mathrand.IntN(20), mathrand.IntN(50), mathrand.IntN(99)) },
		"composed":        func() any { return fmt.Sprintf("%s-%s-%d", someWords(1, ""), day(), mathrand.IntN(1e6)) },
		"long slugs":      func() any { return someWords(6+mathrand.IntN(6), "-") },
		"long camel case": func() any { return camel().(string) + camel().(string) },
		"products": func() any {
			return fmt.Sprintf("%s-%dx%dmm-%s", someWords(2, "-"), mathrand.IntN(99), mathrand.IntN(99), someWords(1, ""))
		},
		"run of a plan": func() any { return "runbook-" + fmt.Sprint(mathrand.IntN(100)) },
	} {
		if n, flagged := measured(class, false); n > 0 {
			t.Errorf("%s: %d of %d flagged, want none: %s", name, n, keysAClass, flagged)
		}
	}
}

func TestOccursFindsWholeWordsOnly(t *testing.T) {
	t.Parallel()
	args := `{"id": 31, "order": "550E8400-e29b-41d4-a716-446655440000", "at": "2026-11-29T19:33:07Z"}`
	for text, want := range map[string]bool{
		"31": true, "1": false, "3": false, "550e8400-e29b-41d4-a716-446655440000": true, "19:33:07": false, "29t19:33:07z": true, "": true, "x": false,
	} {
		if text != "" && idempotency.Occurs(args, text) != want {
			t.Errorf("%q occurs: %v, want %v", text, !want, want)
		}
	}
}
