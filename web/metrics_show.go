package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

// metricsShow answers a scrape. It tells of the whole database, so that one dashboard
// is enough for any number of servers; of several scraped ones each tells the same.
func metricsShow(r *request) error {
	ctx, cancel := r.timed()
	defer cancel()
	families, err := r.d.metrics.gather(ctx, r.d)
	if err != nil {
		return err
	}
	header := http.Header{}
	header.Set(fiber.HeaderAccept, keep(r.Get(fiber.HeaderAccept)))
	format := expfmt.NegotiateAccept(header, expfmt.DefaultAcceptedFormats()...)
	var b bytes.Buffer
	e := expfmt.NewEncoder(&b, format)
	for _, f := range families {
		if err := e.Encode(f); err != nil {
			return err
		}
	}
	r.Set(fiber.HeaderContentType, string(format))
	return r.Send(b.Bytes())
}

// scraper is who has the metrics token; it sees the metrics and nothing else.
func (r *request) scraper() bool {
	sent, bearer := strings.CutPrefix(r.Get(fiber.HeaderAuthorization), "Bearer ")
	if !r.route.scrape || !bearer || r.d.o.MetricsToken == "" {
		return false
	}
	a, b := sha256.Sum256([]byte(sent)), sha256.Sum256([]byte(r.d.o.MetricsToken))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// gathered is one reading as a collector.
type gathered []prometheus.Metric

func (g gathered) Describe(chan<- *prometheus.Desc) {} // unchecked: labels come and go

func (g gathered) Collect(out chan<- prometheus.Metric) {
	for _, m := range g {
		out <- m
	}
}

func (d *Dashboard) newMetrics(ctx context.Context, s *metrics) gathered {
	var g gathered
	for _, read := range []func(context.Context, *Dashboard) (gathered, error){
		s.ended, s.queues, s.states, s.claims, s.duplicates, s.servers, s.serverWaits,
	} {
		part, err := read(ctx, d)
		if err != nil {
			d.log.Warn("dashboard: metrics could not be read", "too_slow", ctx.Err() != nil, "error", err)
			return gathered{gauge(descUp, 0)}
		}
		g = append(g, part...)
	}
	return append(g, gauge(descUp, 1))
}
