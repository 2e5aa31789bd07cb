package web

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/store"
)

// A download holds one chunk of rows in memory, however long the list is.
const (
	exportChunk = 500
	exportWait  = 30 * time.Second // for one chunk
)

// jobsExport streams the whole list of a filter. Its order is the list's; jobs that
// move while it is written may be in it once, or not at all, but never twice.
func jobsExport(r *request) error {
	f, err := r.d.jobsFilter(r.query)
	if err != nil {
		return err
	}
	format, err := r.query("format")
	if err != nil {
		return err
	}
	ctx, cancel := r.timed()
	f, _ = r.d.aim(ctx, f)
	cancel()
	f.Limit = exportChunk
	var begin func(io.Writer) exporter
	switch format {
	case "csv":
		begin = newCSV
		r.Set(fiber.HeaderContentType, "text/csv; charset=utf-8")
	case "ndjson":
		begin = newNDJSON
		r.Set(fiber.HeaderContentType, "application/x-ndjson")
	default:
		return badInput("Field format: unknown %s. Known ones: csv, ndjson.", shorten(format))
	}
	r.Set(fiber.HeaderContentDisposition, `attachment; filename="`+f.State.String()+"-jobs."+format+`"`)
	if r.Method() == fiber.MethodHead {
		return nil
	}
	d := r.d
	r.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		d.export(f, begin(w), w.Flush)
	})
	return nil
}

// exporter writes rows of one format. Ended writes a last line that says that the
// list is not complete.
type exporter interface {
	row(store.JobRow, json.RawMessage) error
	ended(why string) error
	flush() error
}

func (d *Dashboard) export(f store.JobFilter, out exporter, flush func() error) {
	for {
		next, err := d.exportPage(f, out)
		if err != nil {
			d.log.Warn("dashboard: download ended early", "error", err)
			_ = out.ended("the list could not be read to its end")
		}
		if out.flush() != nil || flush() != nil || err != nil || next.IsZero() {
			return // the browser is gone, or all is said
		}
		f.After = next
	}
}

func (d *Dashboard) exportPage(f store.JobFilter, out exporter) (next store.Cursor, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), exportWait)
	defer cancel()
	rows, next, err := d.db.Jobs(ctx, f)
	if err != nil {
		return next, err
	}
	ids := make([]int64, len(rows))
	for i, j := range rows {
		ids[i] = j.ID
	}
	args, err := d.argsOf(ctx, ids)
	if err != nil {
		return next, err
	}
	for _, j := range rows {
		if err := out.row(j, args[j.ID]); err != nil {
			return next, err
		}
	}
	return next, nil
}

var exportColumns = []string{"id", "kind", "queue", "state", "attempt", "retry", "priority", "created_at", "since", "run_at", "server", "error_type", "error", "reason", "args"}

type csvExport struct{ w *csv.Writer }

func newCSV(w io.Writer) exporter {
	e := csvExport{csv.NewWriter(w)}
	_ = e.w.Write(exportColumns) // an error of the writer comes back with flush
	return e
}

func (e csvExport) row(j store.JobRow, args json.RawMessage) error {
	cells := []string{
		strconv.FormatInt(j.ID, 10), j.Kind, j.Queue, j.State.String(), strconv.Itoa(j.Attempt), strconv.Itoa(j.Retry), strconv.Itoa(j.Priority),
		exportTime(&j.CreatedAt), exportTime(&j.Since), exportTime(j.RunAt), serverOf(j), j.ErrorType, j.ErrorLine, j.Reason, string(args),
	}
	for i, cell := range cells {
		if exportColumns[i] != "priority" { // a number of ours, which may be negative
			cells[i] = harmless(cell)
		}
	}
	return e.w.Write(cells)
}

// harmless keeps a spreadsheet from running what a stranger wrote: a cell that
// starts like a formula gets an apostrophe before it.
func harmless(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r\n", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}

func (e csvExport) ended(why string) error { return e.w.Write([]string{"# " + why}) }

func (e csvExport) flush() error {
	e.w.Flush()
	return e.w.Error()
}

type ndjsonExport struct{ w *json.Encoder }

func newNDJSON(w io.Writer) exporter {
	e := ndjsonExport{json.NewEncoder(w)}
	e.w.SetEscapeHTML(false)
	return e
}

// Ids are text: a reader in JavaScript would round them.
func (e ndjsonExport) row(j store.JobRow, args json.RawMessage) error {
	return e.w.Encode(struct {
		ID        string          `json:"id"`
		Kind      string          `json:"kind"`
		Queue     string          `json:"queue"`
		State     string          `json:"state"`
		Attempt   int             `json:"attempt"`
		Retry     int             `json:"retry"`
		Priority  int             `json:"priority"`
		CreatedAt string          `json:"created_at"`
		Since     string          `json:"since"`
		RunAt     string          `json:"run_at,omitempty"`
		Server    string          `json:"server,omitempty"`
		ErrorType string          `json:"error_type,omitempty"`
		Error     string          `json:"error,omitempty"`
		Reason    string          `json:"reason,omitempty"`
		Args      json.RawMessage `json:"args"`
	}{strconv.FormatInt(j.ID, 10), j.Kind, j.Queue, j.State.String(), j.Attempt, j.Retry, j.Priority,
		exportTime(&j.CreatedAt), exportTime(&j.Since), exportTime(j.RunAt), serverOf(j), j.ErrorType, j.ErrorLine, j.Reason, args})
}

func (e ndjsonExport) ended(why string) error {
	return e.w.Encode(map[string]string{"ended_early": why})
}

func (e ndjsonExport) flush() error { return nil }

func exportTime(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func serverOf(j store.JobRow) string {
	if j.Server == nil {
		return ""
	}
	return *j.Server
}
