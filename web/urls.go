package web

import (
	"fmt"
	"net/url"
	"path"
	"strings"
)

// cleanPrefix brings a mount prefix into the form "/ops/jobs", "" for the root.
func cleanPrefix(p string) (string, error) {
	trimmed := strings.Trim(p, "/")
	if trimmed == "" {
		return "", nil
	}
	if strings.ContainsAny(trimmed, ":*+?#%\\\"'<>() \t\r\n") || path.Clean("/"+trimmed) != "/"+trimmed {
		return "", fmt.Errorf("web: prefix %q: must be a plain path such as /ops/jobs", p)
	}
	return "/" + trimmed, nil
}

// local returns a URL of this dashboard to send a browser to: raw when it is one,
// else the start page. Whatever a browser could read as another host ("//evil",
// "\\evil", "https:evil", control characters) is not one.
func (d *Dashboard) local(raw string) string {
	if u, ok := d.localURL(raw); ok {
		return u.RequestURI()
	}
	return d.links.Overview()
}

func (d *Dashboard) localURL(raw string) (*url.URL, bool) {
	if len(raw) > 4096 || !strings.HasPrefix(raw, "/") || strings.HasPrefix(raw, "//") || strings.Contains(raw, "\\") {
		return nil, false
	}
	if strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return nil, false
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" {
		return nil, false
	}
	if strings.HasPrefix(u.Path, "//") || strings.Contains(u.Path+"/", "/../") {
		return nil, false
	}
	if u.Path != d.prefix && !strings.HasPrefix(u.Path, d.prefix+"/") {
		return nil, false
	}
	u.Fragment = ""
	return u, true
}

// within is the escaped path of a local URL inside the dashboard: "/jobs/7".
func (d *Dashboard) within(u *url.URL) string {
	p := strings.TrimPrefix(u.EscapedPath(), d.prefix)
	if p == "" {
		return "/"
	}
	return p
}
