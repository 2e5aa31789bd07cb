package store

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// valueType is what a field compares with.
type valueType int

const (
	anyText valueType = iota
	wholeNumber
	aTime
	aState
	anOutcome
	jsonValue
)

// queryField is one row of the only table from which a search is built. condition
// is its SQL about a candidate c; parameters stand as @text, @number, @from, @to,
// @path and are never part of the text.
type queryField struct {
	name      string
	dotted    bool // takes a path after a dot
	takes     valueType
	condition string
}

// A plain number is looked for as a whole value, other text also inside of one.
const (
	isInArgs = `exists (select 1 from tekrar.jobs j where j.id = c.job_id and ` + isInValues + `)`
	// isInValues is about j.args, valueIs about one value v of it.
	isInValues = `exists (select 1 from jsonb_path_query(j.args, 'lax $.** ? (@.type() != "object" && @.type() != "array")') v where ` + valueIs + `)`
	valueIs    = `case when @whole::boolean then v #>> '{}' = @text::text else strpos(lower(v #>> '{}'), lower(@text::text)) > 0 end`
	isInError  = `(strpos(lower(c.error_type || ' ' || c.error_line), lower(@text::text)) > 0 or exists (select 1 from tekrar.history e
		where e.job_id = c.job_id and e.state = 5
		  and strpos(lower(coalesce(e.data ->> 'error_type', '') || ' ' || coalesce(e.data ->> 'error', '')), lower(@text::text)) > 0))`
	isAnywhere = `(c.job_id::text = @text::text or strpos(lower(c.kind), lower(@text::text)) > 0 or strpos(lower(c.queue), lower(@text::text)) > 0
		or exists (select 1 from tekrar.jobs j where j.id = c.job_id and @text::text = any(j.tags)) or ` + isInError + ` or {in args})`
)

var queryFields = []*queryField{
	{name: "id", takes: wholeNumber, condition: `c.job_id {op} @number::bigint`},
	{name: "kind", condition: `c.kind = @text::text`},
	{name: "queue", condition: `c.queue = @text::text`},
	{name: "state", takes: aState},
	{name: "attempt", takes: wholeNumber, condition: `c.attempt {op} @number::bigint`},
	{name: "outcome", takes: anOutcome, condition: `exists (select 1 from tekrar.failed f where f.job_id = c.job_id and f.outcome = @number::bigint)`},
	{name: "error", condition: isInError},
	{name: "tag", condition: `exists (select 1 from tekrar.jobs j where j.id = c.job_id and @text::text = any(j.tags))`},
	{name: "server", condition: `exists (select 1 from tekrar.history e where e.job_id = c.job_id
		and e.server = any(array(select id from tekrar.servers where name = @text::text)))`},
	{name: "version", condition: `exists (select 1 from tekrar.history e where e.job_id = c.job_id and e.attempt = c.attempt
		and ` + ofVersion("e.server", "@text") + `)`},
	{name: "key", condition: `c.job_id = any(array(select e.job_id from tekrar.effect_claims e where e.key = @text::text))`},
	{name: "created", takes: aTime, condition: `exists (select 1 from tekrar.jobs j where j.id = c.job_id and j.created_at >= @from and j.created_at < @to)`},
	{name: "finished", takes: aTime, condition: `(c.ended >= @from and c.ended < @to)`},
	{name: "args", dotted: true, takes: jsonValue, condition: `exists (select 1 from tekrar.jobs j where j.id = c.job_id and {value})`},
}

// anywhere is text without a field.
var anywhere = &queryField{condition: isAnywhere}

// KnownFields lists the fields of a query for a sentence.
func KnownFields() string {
	names := make([]string, len(queryFields))
	for i, f := range queryFields {
		if names[i] = f.name; f.dotted {
			names[i] += ".path"
		}
	}
	return strings.Join(names, ", ")
}

// FieldNames are the fields as they begin a term, for a list of suggestions.
func FieldNames() []string {
	names := make([]string, len(queryFields))
	for i, f := range queryFields {
		if names[i] = f.name + ":"; f.dotted {
			names[i] = f.name + "."
		}
	}
	return names
}

func fieldNamed(name string) *queryField {
	for _, f := range queryFields {
		if strings.EqualFold(f.name, name) {
			return f
		}
	}
	return nil
}

// queryValue is a value as its field reads it.
type queryValue struct {
	number   int64
	decimal  string    // of a JSON number, "" none
	from, to time.Time // zero: no limit on that side
	age      time.Duration
}

var isDecimal = regexp.MustCompile(`^-?[0-9]{1,100}(\.[0-9]{1,100})?$`)

// read understands the text of a term by its field.
func (t *term) read() (err error) {
	f, name := t.field, t.field.name
	compares := f.takes == wholeNumber || f.takes == aTime || f.takes == jsonValue && t.path != nil
	if t.op != equal && !compares {
		return badQuery("cannot compare %s with %c: only id, attempt, created, finished and args.path know more and less", name, t.op)
	}
	switch f.takes {
	case wholeNumber:
		if t.value.number, err = strconv.ParseInt(t.text, 10, 64); err != nil || t.value.number < 0 {
			return badQuery("has no whole number after %s: %q", name, shortened(t.text))
		}
	case aState:
		s, err := ParseState(strings.ToLower(t.text))
		if err != nil {
			return badQuery("has an %s", err)
		}
		t.value.number = int64(s)
	case anOutcome:
		switch strings.ToLower(t.text) {
		case "exhausted":
			t.value.number = int64(OutcomeExhausted)
		case "permanent":
			t.value.number = int64(OutcomePermanent)
		default:
			return badQuery("has an unknown outcome %q: one of exhausted (retries used up), permanent (not retryable)", shortened(t.text))
		}
	case aTime:
		return t.readTime()
	case jsonValue:
		if isDecimal.MatchString(t.text) {
			t.value.decimal = t.text
		} else if t.op != equal {
			return badQuery("compares args.%s with %q, which is no number", strings.Join(t.path, "."), shortened(t.text))
		}
	}
	return nil
}

// jobNumber reads a job's id: digits only, 1 or more.
func jobNumber(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n > 0 && strconv.FormatInt(n, 10) == text
}
