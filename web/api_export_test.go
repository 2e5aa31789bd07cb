package web

// APIRoutes are the rows for programs, with the parameters that each takes.
func APIRoutes() (out []route) {
	for _, r := range routes {
		if r.api {
			out = append(out, r)
		}
	}
	return out
}

func (r route) Method() string  { return r.method }
func (r route) Path() string    { return r.path }
func (r route) Query() []string { return r.query }
