package views

import "strings"

// ChartFilter is which chart of attempts: the words of its address. Empty ones mean
// six hours, by count, of everything.
type ChartFilter struct {
	Span        string // 1h, 6h, 24h, 7d or 30d
	Scale       Scale
	Kind, Queue string
	CodeVersion string // of the program that ran the attempts
}

// filter is what a chart shows.
func (p ChartProps) filter() ChartFilter {
	return ChartFilter{Span: spanKey(p.Span), Scale: p.Scale, Kind: p.Kind, Queue: p.Queue, CodeVersion: p.CodeVersion}
}

// narrowed says whether a chart shows less than everything.
func (f ChartFilter) narrowed() bool { return f.Kind != "" || f.Queue != "" || f.CodeVersion != "" }

// during, scaled and ofKind are the same chart but for one word.
func (f ChartFilter) during(span string) ChartFilter { f.Span = span; return f }

func (f ChartFilter) scaled(s Scale) ChartFilter { f.Scale = s; return f }

func (f ChartFilter) ofKind(kind string) ChartFilter { f.Kind = kind; return f }

// ofEverything leaves out what narrows.
func (f ChartFilter) ofEverything() ChartFilter { return ChartFilter{Span: f.Span, Scale: f.Scale} }

// jobs are the jobs of a state that the chart counts; q narrows further.
func (p ChartProps) jobs(s State, q string) ListFilter {
	if p.CodeVersion != "" {
		q = strings.TrimSpace("version:" + quotedTerm(p.CodeVersion) + " " + q)
	}
	return ListFilter{State: s, Queue: p.Queue, Kind: p.Kind, Q: q}
}
