package outbound

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxBody is how much of an answer is read: 1 MB.
const MaxBody = 1 << 20

// Response is a provider's answer.
type Response struct {
	Status    int
	Header    http.Header
	Body      []byte // at most MaxBody bytes
	Truncated bool   // the answer was longer
	Replayed  bool   // the provider repeated an earlier answer
	Reference string // of the effect at the provider; "" if it named none
	Took      time.Duration

	broken error // the body ended early
}

// JSON decodes the answer into v and says what it got where that cannot be done.
func (r Response) JSON(v any) error {
	switch {
	case r.Truncated:
		return fmt.Errorf("answer is larger than %d bytes", MaxBody)
	case len(r.Body) == 0:
		return errors.New("answer is empty")
	}
	if err := json.Unmarshal(r.Body, v); err != nil {
		return fmt.Errorf("answer with content type %q is no such JSON: %w", r.contentType(), err)
	}
	return nil
}

func (r Response) contentType() string {
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return t
}

// own reports that the provider itself gave the answer. An empty one has no type.
func (p Profile) own(r Response) bool {
	got := r.contentType()
	if p.ContentType == "" || got == p.ContentType || len(r.Body) == 0 && r.broken == nil {
		return true
	}
	// problem+json and the like are still the provider's.
	return strings.HasSuffix(p.ContentType, "/json") && strings.HasSuffix(got, "+json")
}

// read takes the answer in; it never fails, it notes what is missing.
func (p Profile) read(resp *http.Response) Response {
	defer resp.Body.Close()
	r := Response{Status: resp.StatusCode, Header: resp.Header}
	body, err := io.ReadAll(io.LimitReader(resp.Body, MaxBody+1))
	if len(body) > MaxBody {
		body, r.Truncated = body[:MaxBody], true
	}
	r.Body, r.broken = body, err
	var members map[string]json.RawMessage
	if err := r.JSON(&members); err != nil {
		members = nil
	}
	if p.ReferenceField != "" {
		r.Reference = scalar(members[p.ReferenceField])
	}
	if p.ReplayField != "" {
		r.Replayed = scalar(members[p.ReplayField]) == "true"
	}
	if mark := resp.Header.Get(p.ReplayHeader); p.ReplayHeader != "" && mark != "" {
		r.Replayed = p.ReplayValue == "" || strings.EqualFold(mark, p.ReplayValue)
	}
	return r
}

// maxReference keeps a provider's mistake out of the tables.
const maxReference = 255

// scalar is a JSON string, number or boolean as text; anything else is "".
func scalar(raw json.RawMessage) string {
	var value any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if len(raw) == 0 || d.Decode(&value) != nil {
		return ""
	}
	text := ""
	switch x := value.(type) {
	case string:
		text = strings.Map(printable, x)
	case json.Number:
		text = x.String()
	case bool:
		text = strconv.FormatBool(x)
	}
	if len(text) > maxReference {
		text = strings.ToValidUTF8(text[:maxReference], "")
	}
	return text
}

func printable(r rune) rune {
	if r < ' ' || r == 0x7f || r == '\uFFFD' {
		return -1
	}
	return r
}
