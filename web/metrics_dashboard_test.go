package web_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// labels gives the names of the labels of each series that is exported: those of the
// scrape, the bucket's, and what Prometheus adds.
func (s scraped) labels() map[string][]string {
	all := map[string][]string{}
	for name, f := range s {
		for _, m := range f.Metric {
			for _, l := range m.Label {
				all[name] = append(all[name], l.GetName())
			}
		}
		all[name] = append(all[name], "job", "instance", "pod")
		for _, part := range []string{"_sum", "_count", "_bucket"} {
			all[name+part] = append(slices.Clone(all[name]), "le")
		}
	}
	return all
}

var (
	series   = regexp.MustCompile(`\b(tekrar_[a-z0-9_]+)(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`^([a-z]+)(=|!=|=~|!~)"[^"]*"$`)
	grouping = regexp.MustCompile(`\b(by|without) \(([a-z_, ]*)\)`)
	variable = regexp.MustCompile(`\$\{?([a-zA-Z_]+)`)
	legend   = regexp.MustCompile(`\{\{ *(?:\$labels\.)?([a-z]+) *\}\}`)
)

// exprFaults finds what an expression of PromQL asks for and nobody exports. shown is
// text with {{label}} about its result.
func exprFaults(expr, shown string, labels map[string][]string) (faults []string) {
	if strings.Count(expr, "(") != strings.Count(expr, ")") || strings.Count(expr, "{") != strings.Count(expr, "}") || strings.Count(expr, `"`)%2 != 0 {
		faults = append(faults, "unbalanced")
	}
	var known []string
	for _, m := range series.FindAllStringSubmatch(expr, -1) {
		of, exported := labels[m[1]]
		if !exported {
			faults = append(faults, m[1]+" is not exported")
		}
		known = append(known, of...)
		for _, one := range strings.FieldsFunc(m[2], func(r rune) bool { return r == ',' }) {
			if parts := matcher.FindStringSubmatch(one); parts == nil || !slices.Contains(of, parts[1]) {
				faults = append(faults, m[1]+" has no label for "+one)
			}
		}
	}
	if len(known) == 0 {
		faults = append(faults, "asks for nothing of ours")
	}
	left := known
	for i, m := range grouping.FindAllStringSubmatch(expr, -1) {
		names := strings.Split(strings.ReplaceAll(m[2], " ", ""), ",")
		for _, name := range names {
			if !slices.Contains(known, name) {
				faults = append(faults, "no label "+name+" to group by")
			}
		}
		switch {
		case m[1] == "without":
			left = slices.DeleteFunc(slices.Clone(left), func(l string) bool { return slices.Contains(names, l) })
		case i == 0: // the outermost decides what is left
			left = names
		}
	}
	for _, m := range legend.FindAllStringSubmatch(shown, -1) {
		if !slices.Contains(left, m[1]) {
			faults = append(faults, "no label "+m[1]+" to show")
		}
	}
	return faults
}

type grafanaSource struct{ Type, UID string }

type grafanaPanel struct {
	ID          int
	Type, Title string
	GridPos     struct{ X, Y, W, H int }
	Datasource  grafanaSource
	FieldConfig *struct{ Defaults map[string]any }
	Targets     []struct {
		Expr, RefID, LegendFormat string
		Datasource                *grafanaSource
	}
}

type grafanaVariable struct {
	Name, Type string
	Query      any
	Datasource grafanaSource
}

var fromDashboard = grafanaSource{"prometheus", "${datasource}"}

// dashboardFaults holds a file to what Grafana wants of a dashboard that is imported.
func dashboardFaults(text []byte, labels map[string][]string) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	var d struct {
		ID            any
		UID, Title    string
		SchemaVersion int
		Time          struct{ From, To string }
		Templating    struct{ List []grafanaVariable }
		Panels        []grafanaPanel
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return []string{err.Error()}
	}
	if d.ID != nil || d.UID == "" || len(d.UID) > 40 || d.Title == "" || d.SchemaVersion < 36 || d.Time.From == "" || d.Time.To == "" || len(d.Panels) == 0 {
		fault("the head lacks something, or has the id of one installation")
	}
	defined := []string{"__rate_interval", "__interval", "__range"}
	for i, v := range d.Templating.List {
		switch query, _ := v.Query.(map[string]any); {
		case i == 0:
			if v.Name != "datasource" || v.Type != "datasource" || v.Query != "prometheus" {
				fault("the first variable is the data source: %+v", v)
			}
		case v.Type != "query" || v.Datasource != fromDashboard:
			fault("variable %s asks another data source", v.Name)
		default:
			asked := regexp.MustCompile(`^label_values\((\w+), (\w+)\)$`).FindStringSubmatch(fmt.Sprint(query["query"]))
			if asked == nil || !slices.Contains(labels[asked[1]], asked[2]) {
				fault("variable %s asks for what is not there: %v", v.Name, query["query"])
			}
		}
		defined = append(defined, v.Name)
	}
	ids := map[int]bool{}
	for i, p := range d.Panels {
		at := p.GridPos
		if ids[p.ID] || p.ID == 0 || p.Title == "" || !slices.Contains([]string{"stat", "timeseries"}, p.Type) || p.FieldConfig == nil {
			fault("panel %d (%s) lacks something, or its id is another's", p.ID, p.Title)
		}
		ids[p.ID] = true
		if at.W < 1 || at.H < 1 || at.X < 0 || at.Y < 0 || at.X+at.W > 24 {
			fault("panel %s is outside of 24 columns", p.Title)
		}
		for _, o := range d.Panels[:i] {
			if b := o.GridPos; at.X < b.X+b.W && b.X < at.X+at.W && at.Y < b.Y+b.H && b.Y < at.Y+at.H {
				fault("panel %s lies over %s", p.Title, o.Title)
			}
		}
		refs := map[string]bool{}
		if len(p.Targets) == 0 || p.Datasource != fromDashboard {
			fault("panel %s asks nothing, or another data source", p.Title)
		}
		for _, q := range p.Targets {
			if q.RefID == "" || refs[q.RefID] || q.Datasource != nil && *q.Datasource != fromDashboard {
				fault("panel %s: target %q", p.Title, q.RefID)
			}
			refs[q.RefID] = true
			for _, m := range variable.FindAllStringSubmatch(q.Expr, -1) {
				if !slices.Contains(defined, m[1]) {
					fault("panel %s: nobody defines $%s", p.Title, m[1])
				}
			}
			for _, f := range exprFaults(q.Expr, q.LegendFormat, labels) {
				fault("panel %s: %s: %s", p.Title, f, q.Expr)
			}
		}
	}
	return faults
}

// checkDashboard also spoils the file in many ways: each has to be noticed.
func checkDashboard(t *testing.T, text []byte, labels map[string][]string) {
	t.Helper()
	for _, fault := range dashboardFaults(text, labels) {
		t.Error(fault)
	}
	for _, tt := range []struct{ old, spoilt, want string }{
		{`"schemaVersion": 39`, `"schemaVersion": 6`, "the head"},
		{`"uid": "tekrar"`, `"uid": "tekrar", "id": 7`, "the head"},
		{`"query": "prometheus"`, `"query": "loki"`, "data source"},
		{`label_values(tekrar_queue_depth, queue)`, `label_values(tekrar_queue_depth, kind)`, "what is not there"},
		{`"uid": "${datasource}"`, `"uid": "P1809F7CD0C75ACF3"`, "another data source"},
		{`tekrar_retries_waiting{`, `tekrar_retries{`, "tekrar_retries is not exported"},
		{`,queue=~\"$queue\"`, `,lane=~\"$queue\"`, "no label for lane"},
		{`,queue=~\"$queue\"`, `,queue=~\"$lane\"`, "nobody defines $lane"},
		{`sum by (attempt)`, `sum by (try)`, "no label try to group by"},
		{`{{outcome}}`, `{{kind}}`, "no label kind to show"},
		{`{{queue}}`, `{{instance}}`, "no label instance to show"},
		{`"refId": "B"`, `"refId": "A"`, "target"},
	} {
		spoilt := strings.Replace(string(text), tt.old, tt.spoilt, 1)
		if tt.old[0] == '"' && strings.Contains(tt.old, "${") {
			spoilt = strings.ReplaceAll(string(text), tt.old, tt.spoilt)
		}
		if found := strings.Join(dashboardFaults([]byte(spoilt), labels), "\n"); spoilt == string(text) || !strings.Contains(found, tt.want) {
			t.Errorf("%s instead of %s is found as %q, want %q", tt.spoilt, tt.old, found, tt.want)
		}
	}
	var d map[string]any
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	panels := d["panels"].([]any)
	panels[1].(map[string]any)["gridPos"] = panels[0].(map[string]any)["gridPos"]
	spoilt, err := json.Marshal(d)
	if found := strings.Join(dashboardFaults(spoilt, labels), "\n"); err != nil || !strings.Contains(found, "lies over") {
		t.Errorf("panels that lie over each other: %q", found)
	}
}
