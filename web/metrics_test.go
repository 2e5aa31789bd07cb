package web_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/web"
)

type scraped map[string]*dto.MetricFamily

func (x *site) scrape(h headers) scraped {
	x.t.Helper()
	a := x.call("GET", "/metrics", "", h).wants(x.t, 200)
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(a.body))
	if err != nil {
		x.t.Fatalf("no text of Prometheus: %v\n%s", err, clip(a.body))
	}
	return families
}

// value is the one metric of a family with these labels ("queue=default").
func (s scraped) value(name string, labels ...string) *dto.Metric {
	f := s[name]
	if f == nil {
		return nil
	}
	for _, m := range f.Metric {
		has := map[string]bool{}
		for _, l := range m.Label {
			has[l.GetName()+"="+l.GetValue()] = true
		}
		all := len(has) == len(labels)
		for _, l := range labels {
			all = all && has[l]
		}
		if all {
			return m
		}
	}
	return nil
}

// The numbers are those of the database, and every name that the Grafana dashboard
// and the alert rules use is exported.
func TestMetrics(t *testing.T) {
	t.Parallel()
	x := open(t, settings{prefix: "/ops", options: web.Options{Access: web.None()}})
	x.work()
	x.failed("a")
	x.failed("b")
	ok := x.enqueue(note{})
	waits := x.enqueue(note{}, jobs.Queue("nobody"))
	x.until("job done", func() bool { return x.state(ok).String() == "succeeded" })
	var s scraped
	x.until("all are counted", func() bool {
		s = x.scrape(nil)
		m := s.value("tekrar_attempts_ended_total", "kind=note", "outcome=permanent", "attempt=1")
		n := s.value("tekrar_attempts_ended_total", "kind=note", "outcome=succeeded", "attempt=1")
		return m.GetCounter().GetValue() == 2 && n.GetCounter().GetValue() == 1
	})
	for name, want := range map[string]float64{
		"tekrar_up": 1, "tekrar_queue_depth queue=nobody": 1, "tekrar_queue_servers queue=nobody": 0, "tekrar_queue_servers queue=default": 1,
		"tekrar_jobs state=failed": 2, "tekrar_jobs state=succeeded": 1, "tekrar_servers state=live": 1, "tekrar_claims state=unknown": 0,
		"tekrar_duplicate_effects": 0, "tekrar_retries_waiting": 0, "tekrar_first_attempt_success_ratio": 1. / 3,
	} {
		words := strings.Fields(name)
		m := s.value(words[0], words[1:]...)
		if m == nil || m.GetGauge().GetValue() != want {
			t.Errorf("%s is %v, want %v", name, m, want)
		}
	}
	if m := s.value("tekrar_queue_oldest_seconds", "queue=nobody"); m.GetGauge().GetValue() <= 0 {
		t.Errorf("job %d waits for %v", waits, m)
	}
	run := s.value("tekrar_attempt_run_seconds", "kind=note").GetHistogram()
	if run.GetSampleCount() != 3 || len(run.GetBucket()) < 18 || run.GetBucket()[17].GetCumulativeCount() != 3 {
		t.Errorf("run time: %v", run)
	}
	if w := s.value("tekrar_attempt_wait_seconds", "queue=default").GetSummary(); w.GetSampleCount() != 3 {
		t.Errorf("wait: %v", w)
	}
	own := s.value("tekrar_server_wait_seconds", "queue=default").GetHistogram()
	if own.GetSampleCount() != 3 || own.GetSampleSum() <= 0 || len(own.GetBucket()) < 18 || own.GetBucket()[17].GetCumulativeCount() != 3 {
		t.Errorf("waits of this process: %v", own)
	}
	exported := map[string]bool{}
	for name, f := range s {
		exported[name] = true
		if f.GetType() == dto.MetricType_HISTOGRAM || f.GetType() == dto.MetricType_SUMMARY {
			exported[name+"_bucket"], exported[name+"_sum"], exported[name+"_count"] = f.GetType() == dto.MetricType_HISTOGRAM, true, true
		}
	}
	for _, file := range []string{"monitoring/grafana.json", "monitoring/alerts.yml", "monitoring.md"} {
		text, err := os.ReadFile("../docs/" + file)
		if err != nil {
			t.Fatal(err)
		}
		switch filepath.Ext(file) {
		case ".json":
			checkDashboard(t, text, s.labels())
		case ".yml":
			checkRules(t, text, s.labels())
		}
		used := regexp.MustCompile(`\btekrar_[a-z0-9_]+`).FindAllString(string(text), -1)
		if len(used) < 10 {
			t.Errorf("%s uses %d metrics", file, len(used))
		}
		for _, name := range used {
			if !exported[name] {
				t.Errorf("%s uses %s, which is not exported", file, name)
			}
		}
	}
}

// checkRules holds the file to what Prometheus wants of alert rules.
func checkRules(t *testing.T, text []byte, labels map[string][]string) {
	t.Helper()
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&file); err != nil || len(file.Groups) != 1 {
		t.Fatalf("alert rules: %v", err)
	}
	for _, r := range file.Groups[0].Rules {
		if r.Alert == "" || r.Labels["severity"] == "" || r.Annotations["summary"] == "" {
			t.Errorf("rule %+v", r)
		}
		for _, fault := range exprFaults(r.Expr, r.Annotations["summary"]+r.Annotations["description"], labels) {
			t.Errorf("%s: %s: %s", r.Alert, fault, r.Expr)
		}
		if _, err := model.ParseDuration(r.For); r.For != "" && err != nil {
			t.Errorf("%s: %v", r.Alert, err)
		}
	}
}

// A token opens the metrics and nothing else.
func TestMetricsToken(t *testing.T) {
	t.Parallel()
	const token = "s3cret"
	x := open(t, settings{options: web.Options{Access: web.Basic(map[string]string{"ada": "password"}), MetricsToken: token}})
	x.scrape(headers{"Authorization": "Bearer " + token})
	for _, wrong := range []string{"", "Bearer", "Bearer ", "Bearer s3cre", "Basic " + token, "bearer x"} {
		x.call("GET", "/metrics", "", headers{"Authorization": wrong}).wants(t, 401)
	}
	for _, path := range []string{"/", "/jobs", "/api/jobs", "/api/openapi.json"} {
		x.call("GET", path, "", headers{"Authorization": "Bearer " + token}).wants(t, 401)
	}
	without := open(t, settings{options: web.Options{Access: web.Basic(map[string]string{"ada": "password"})}})
	without.call("GET", "/metrics", "", headers{"Authorization": "Bearer "}).wants(t, 401)
}

// However many kinds and queues there are, the labels stay few; nothing is lost.
func TestMetricsFoldNames(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	x.past(`insert into tekrar.stats (minute, server, n, run_us, wait_us, outcome, attempt, bucket, queue, kind)
select date_trunc('minute', clock_timestamp()), 1, 1, 1000, 1000, 1, 1 + g % 5, 2, 'q' || g, 'k' || g from generate_series(1, 250) g`)
	s := x.scrape(nil)
	kinds, sum := map[string]bool{}, 0.
	for _, m := range s["tekrar_attempts_ended_total"].GetMetric() {
		sum += m.GetCounter().GetValue()
		for _, l := range m.GetLabel() {
			if l.GetName() == "kind" {
				kinds[l.GetValue()] = true
			}
		}
	}
	if len(kinds) != 101 || !kinds["other"] || sum != 250 {
		t.Errorf("%d kinds, %v attempts", len(kinds), sum)
	}
	if n := len(s["tekrar_attempt_wait_seconds"].GetMetric()); n != 101 {
		t.Errorf("%d queues", n)
	}
}
