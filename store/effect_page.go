package store

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lib/pq"
)

// EffectTab is a list of claims on the dashboard.
type EffectTab string

// The lists: unsettled and unknown ones oldest first, the others by their latest
// use, newest first.
const (
	TabUnsettled EffectTab = "unsettled" // claimed, begun, unknown
	TabUnknown   EffectTab = "unknown"
	TabDone      EffectTab = "done"
	TabReleased  EffectTab = "released" // released and failed: did not happen
)

// EffectTabs lists the tabs in the order of the screen.
var EffectTabs = []EffectTab{TabUnsettled, TabUnknown, TabDone, TabReleased}

// ParseEffectTab reads a tab; the empty text is TabUnsettled.
func ParseEffectTab(text string) (EffectTab, error) {
	if text == "" {
		return TabUnsettled, nil
	}
	for _, t := range EffectTabs {
		if string(t) == text {
			return t, nil
		}
	}
	return "", fmt.Errorf("unknown %q: one of unsettled, unknown, done, released", text)
}

// EffectCursor is a place in the list of a tab; the zero value is its start.
type EffectCursor struct {
	tab EffectTab
	at  int64 // microseconds since 1970
	key string
}

// IsZero reports the start of a list; as an answer it says that there is no further page.
func (c EffectCursor) IsZero() bool { return c == EffectCursor{} }

// String is what ParseEffectCursor reads, safe in a URL.
func (c EffectCursor) String() string {
	if c.IsZero() {
		return ""
	}
	b := binary.BigEndian.AppendUint64([]byte{byte(slices.Index(EffectTabs, c.tab))}, uint64(c.at))
	return base64.RawURLEncoding.EncodeToString(append(b, c.key...))
}

// ParseEffectCursor reads what String wrote for a list of tab; else ErrBadCursor.
func ParseEffectCursor(tab EffectTab, text string) (EffectCursor, error) {
	if text == "" {
		return EffectCursor{}, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < 10 || int(b[0]) != slices.Index(EffectTabs, tab) {
		return EffectCursor{}, ErrBadCursor
	}
	c := EffectCursor{tab: tab, at: int64(binary.BigEndian.Uint64(b[1:9])), key: string(b[9:])}
	if c.at < firstTime.UnixMicro() || c.at > lastTime.UnixMicro() || !utf8.ValidString(c.key) || strings.ContainsRune(c.key, 0) {
		return EffectCursor{}, ErrBadCursor
	}
	return c, nil
}

func (t EffectTab) newestFirst() bool { return t == TabDone || t == TabReleased }

// Each list is a range of an index; $1 and $2 are where it goes on, $3 rows.
var (
	openEffects    = effectPage(`select * from tekrar.effect_claims where state in (1, 2, 3) and claimed_at >= '-infinity' and (claimed_at, key) > ($1::timestamptz, $2) order by claimed_at, key limit $3`, `c.claimed_at, c.key`)
	unknownEffects = effectPage(`select * from tekrar.effect_claims where state = 3 and (claimed_at, key) > ($1::timestamptz, $2) order by claimed_at, key limit $3`, `c.claimed_at, c.key`)
	doneEffects    = effectPage(settledEffects(EffectDone), `c.touched_at desc, c.key desc`)
	freedEffects   = effectPage(`select * from (`+settledEffects(EffectReleased)+`) r union all select * from (`+settledEffects(EffectFailed)+`) f`, `c.touched_at desc, c.key desc`)
	effectsByKey   = effectPage(`select e.* from unnest($1::text[]) k(key) cross join lateral (select * from tekrar.effect_claims where key = k.key offset 0) e`, `c.key`)
)

func settledEffects(s EffectState) string {
	return fmt.Sprintf(`select * from tekrar.effect_claims where state = %d and (touched_at, key) < ($1::timestamptz, $2) order by touched_at desc, key desc limit $3`, s)
}

func effectPage(from, order string) string {
	text := `select ` + effectColumns + `, ` + effectDuplicates + `, c.touched_at from (` + from + `) c order by ` + order
	if strings.Contains(from, "$3") {
		text += ` limit $3`
	}
	return text
}

// EffectPage reads one page of a tab, limit rows (0 or less: 50). next continues
// it and is zero after the last page.
func (db *DB) EffectPage(ctx context.Context, tab EffectTab, after EffectCursor, limit int) (rows []Effect, next EffectCursor, err error) {
	if limit <= 0 {
		limit = 50
	}
	text := map[EffectTab]string{TabUnsettled: openEffects, TabUnknown: unknownEffects, TabDone: doneEffects, TabReleased: freedEffects}[tab]
	at, key := time.UnixMicro(after.at).UTC(), after.key
	if after.IsZero() {
		if at = firstTime; tab.newestFirst() {
			at, key = lastTime, ""
		}
	}
	var last []EffectCursor
	rows, err = db.effectPage(ctx, text, func(e Effect, touched time.Time) {
		c := EffectCursor{tab: tab, at: e.ClaimedAt.UnixMicro(), key: e.Key}
		if tab.newestFirst() {
			c.at = touched.UnixMicro()
		}
		last = append(last, c)
	}, at, key, limit+1)
	if err == nil && len(rows) > limit {
		rows, next = rows[:limit], last[limit-1]
	}
	return rows, next, err
}

// EffectsByKey reads the claims of these keys, in the order of keys; those that
// are gone are left out.
func (db *DB) EffectsByKey(ctx context.Context, keys []string) ([]Effect, error) {
	return db.effectPage(ctx, effectsByKey, func(Effect, time.Time) {}, pq.Array(keys))
}

func (db *DB) effectPage(ctx context.Context, text string, each func(Effect, time.Time), args ...any) (rows []Effect, err error) {
	err = db.snapshotEffects(ctx, text, func(r *sql.Rows) error {
		var duplicates int
		var touched time.Time
		e, err := scanEffect(r, &duplicates, &touched)
		e.Duplicates = duplicates
		rows = append(rows, e)
		each(e, touched)
		return err
	}, args...)
	return rows, err
}
