package redact

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Restore puts the stored values back where edited, which a person changed after
// JSON had hidden them, still says Hidden at the same path. A value typed over Hidden
// stays as typed. lost names the paths that say Hidden but have no stored value.
func (r *Rules) Restore(edited, stored json.RawMessage) (out json.RawMessage, lost []string) {
	if r == nil {
		r = byDefault
	}
	if !json.Valid(edited) || len(edited) == 0 {
		return edited, nil
	}
	old := map[string][]byte{}
	if len(stored) > 0 && json.Valid(stored) {
		w := &walk{rules: r, in: stored, visit: func(path []string, value []byte) []byte {
			old[pathKey(path)] = value
			return value
		}}
		w.value(nil, false)
	}
	w := &walk{rules: r, in: edited, visit: func(path []string, value []byte) []byte {
		var text string
		if json.Unmarshal(value, &text) != nil || text != Hidden {
			return value
		}
		was, known := old[pathKey(path)]
		if !known {
			lost = append(lost, strings.Join(path, "."))
			return value
		}
		return was
	}}
	w.value(nil, false)
	return bytes.TrimSpace(w.out), lost
}

func pathKey(path []string) string {
	b, _ := json.Marshal(path)
	return string(b)
}
