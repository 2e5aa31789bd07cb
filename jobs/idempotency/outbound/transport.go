package outbound

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/tekrar/tekrar/jobs"
)

// client is the configured one, but follows no redirect: that would be a second
// request under the same key.
func (c *Client) client() *http.Client {
	c.once.Do(func() {
		own := http.Client{}
		if c.HTTP != nil {
			own = *c.HTTP
		}
		if own.Transport == nil {
			own.Transport = newTransport()
		}
		own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		c.http = &own
	})
	return c.http
}

func (c *Client) logger(ctx context.Context) *slog.Logger {
	if c.Logger != nil {
		return c.Logger
	}
	return jobs.Logger(ctx)
}

// content reads the body in: what is hashed, sent and counted is the same.
func content(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	defer req.Body.Close()
	body, err := io.ReadAll(io.LimitReader(req.Body, maxRequest+1))
	if err == nil && len(body) > maxRequest {
		err = &jobs.InputError{Field: "body", Problem: fmt.Sprintf("is larger than %d bytes", maxRequest)}
	}
	return body, err
}

// drop removes a header in any spelling.
func drop(h http.Header, name string) {
	for key := range h {
		if name != "" && strings.EqualFold(key, name) {
			delete(h, key)
		}
	}
}

func (c *Client) limit() time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return defaultTimeout
}
