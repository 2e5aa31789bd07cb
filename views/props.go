// Package views draws the dashboard: templ components, the words on the screen,
// number and time formats, and the chart SVG. It knows no database and no request;
// everything arrives as the plain structs of props.go.
//
// # Pages
//
//	OverviewPage(Layout, OverviewProps)   GET  /
//	JobsPage(Layout, JobsProps)           GET  /jobs?state=&queue=&kind=&group=&q=&after=
//	FailuresPage(Layout, FailuresProps)   GET  /failures
//	FailureConfirmPage(Layout, FailureConfirmProps)      POST /failures/confirm
//	BulkConfirmPage(Layout, BulkConfirmProps)            POST /bulk/confirm
//	BulkPage(Layout, BulkProps)           GET  /bulk/{id}
//	AuditPage(Layout, AuditProps)         GET  /audit?actor=&action=&before=
//	ConfirmPage(Layout, ConfirmProps)     POST /jobs/confirm
//	JobPage(Layout, JobProps)             GET  /jobs/{id}?before=
//	CopyFormPage(Layout, CopyFormProps)   GET, POST /jobs/{id}/copy
//	CopyConfirmPage(Layout, CopyConfirmProps)            POST /jobs/{id}/copy
//	AttemptsPage(Layout, AttemptsProps)   GET  /attempts?span=1h|6h|24h|7d|30d&scale=count|share&kind=&queue=
//	QueuesPage(Layout, QueuesProps)       GET  /queues
//	RecurringPage(Layout, RecurringProps) GET  /recurring
//	RecurringOnePage(Layout, RecurringOneProps)          GET  /recurring/{id}
//	RecurringFormPage(Layout, RecurringFormProps)        GET  /recurring-new, POST /recurring-save
//	RecurringConfirmPage(Layout, RecurringConfirmProps)  POST /recurring-confirm
//	ServersPage(Layout, ServersProps)     GET  /servers
//	ClaimsPage(Layout, ClaimsProps)       GET  /claims?tab=&after=
//	ClaimPage(Layout, ClaimProps)         GET  /claims/{key}, /claims?key=
//	ClaimConfirmPage(Layout, ClaimConfirmProps)          POST /claims-confirm
//	PurgeConfirmPage(Layout, PurgeProps)                 POST /claims-purge
//	CallsPage(Layout, CallsProps)         GET  /calls?key=&job=&before=
//	DemoPage(Layout, DemoProps)           GET  /demo
//	ProviderPage(Layout, ProviderProps)   GET  /demo/provider?key=
//	MessagePage(Layout, MessageProps)     404, 409, 400, 500, 503
//
// # Fragments
//
// Each is part of a page and can be rendered alone for the socket. Its outermost
// element carries the id (first column), data-part and data-v.
//
//	job-row-<id>    JobRow(Layout, JobRowProps)           v: JobRowProps.Version
//	state-tabs      StateTabs(Layout, TabsProps)          v: TabsProps.Version
//	job-header      JobHeader(Layout, JobProps)           v: JobProps.Version, also the next four
//	job-actions     JobActions(Layout, JobProps)
//	job-timeline    Timeline(Layout, JobProps)
//	job-error       JobError(Layout, JobProps)
//	job-attempts    JobAttempts(Layout, JobProps)
//	job-said        JobSaid(Layout, JobProps)             v: SaidProps.Version
//	verdict         Verdict(Layout, HealthProps)          v: HealthProps.Version, also Tiles
//	tiles           Tiles(Layout, HealthProps)
//	attempts-chart  AttemptsChart(Layout, ChartProps)     v: ChartProps.Version
//	failure-groups  FailureGroups(Layout, FailuresProps)  v: FailuresProps.Version; failure-top: FailureGroupsShort
//	failure-lead    FailuresLead(Layout, FailuresProps)   failure-muted: MutedFailures
//	bulk-progress   BulkProgress(Layout, BulkProps)       v: BulkProps.Version
//	queue-rows      QueueRows(Layout, QueuesProps)        v: QueuesProps.Version; the <tbody>
//	server-rows     ServerRows(Layout, ServersProps)      v: ServersProps.Version; the <tbody>
//	claim-<hash of key>  ClaimRow(Layout, ClaimRowProps); call-row-<id>  CallRow(Layout, CallRowProps)
//	claim-tabs, claim-purge, call-tiles, call-warnings   ClaimTabs, PurgeCard, CallTiles, CallWarnings
//	claim-header, claim-actions, claim-axis, claim-story, claim-facts, claim-calls  ClaimHeader(Layout, ClaimProps) and so on
//	job-tabs, job-claims, job-calls                      JobPanelTabs, JobClaims, JobCalls(Layout, JobProps)
//	recurring-row-<escaped id>  RecurringRow(Layout, RecurringRowProps)  v: RecurringRowProps.Version, also the next four
//	recurring-header, recurring-actions, recurring-fires, recurring-facts  RecurringHeader(Layout, RecurringOneProps) and so on
//
// A version only grows: the job's last history id, or, where a part has no such
// number, the milliseconds of Layout.Now (0 means: that). A fragment rendered for
// many tabs at once is given Layout.Token "": the script puts the page's own
// token into its forms.
//
// # Forms (POST, answered 303 except confirm; each has the hidden field token)
//
//	/jobs/confirm  do=requeue|delete|restore|cancel  target=<id>:<state> (repeated)  back=<local URL>
//	/jobs/act      do=once|fresh|delete|restore|cancel  target=<id>:<state> (repeated)  back=<local URL>
//	/jobs/views    view=save|remove  name=  state= queue= kind= group= q=  back=<local URL>
//	/jobs/{id}/copy  do=check|edit|enqueue  state=<as on the screen>  queue=  delay=  args= (absent: as stored)  once= (enqueue)
//	/failures/confirm  do=mute|unmute  kind= group=  back=<local URL>; /failures/act the same
//	/bulk/confirm  do=requeue|delete|restore  state= queue= kind= group= q=  back=<local URL>
//	/bulk/start    do=once|fresh|delete|restore  and those, with expect=, seen=, typed=
//	/bulk/act      do=stop|continue|undo  id=
//	/queues/act    do=pause|resume  queue=<name>
//	/recurring-confirm  do=remove  id=<id>
//	/recurring-act      do=run|pause|resume|remove  id=<id>  back=<local URL>
//	/recurring-save     do=preview|save  new=1 (else seen=, was_paused=)  and RecurringFormProps: id= kind= spec= zone= misfire= overlap= start= end= queue= args= paused=1
//	/claims-confirm, /claims-act  do=reclaim|delivered|not-delivered|again  key=  claim=<token>  seen=<state>  note=  back=<local URL>
//	/claims-purge       do=dry|ask|run
//	/demo/enqueue  card=<key>  count=  delay=<seconds>  arg.<name>= (one for each field)
//	/theme         theme=light|dark|auto or rows=dense|normal or keys=off|on or language=en|tr or zone=<IANA name>  back=<local URL>
//
// The state in a target is the one on the person's screen (Target, ParseTarget).
package views

import (
	"time"

	"github.com/tekrar/tekrar/views/locale"
)

// State is the name of a job's state as URLs, classes and screens spell it.
type State string

// The states, in the order of States. Late marks a history row only.
const (
	Enqueued   State = "enqueued"
	Scheduled  State = "scheduled"
	Awaiting   State = "awaiting"
	Processing State = "processing"
	Succeeded  State = "succeeded"
	Failed     State = "failed"
	Deleted    State = "deleted"
	Late       State = "late"
)

// States lists the states of a job in the order of the tabs.
var States = []State{Enqueued, Scheduled, Awaiting, Processing, Succeeded, Failed, Deleted}

// Scale is how the attempts chart measures: ScaleCount or ScaleShare.
type Scale string

// The scales. The empty scale is ScaleCount.
const (
	ScaleCount Scale = "count"
	ScaleShare Scale = "share" // 100 %
)

// Layout is what every page and fragment needs.
type Layout struct {
	*locale.Locale // language and zone of the reader; nil: English and UTC
	Links          Links
	Title          string    // of the page, without the product's name
	Environment    string    // "demo", "production"; "" shows none
	Nav            string    // current entry: overview, jobs, attempts, queues, recurring, servers, claims, calls, demo; "" none
	Demo           bool      // the Demo page exists
	Theme          string    // light, dark; anything else: as the system prefers
	Dense          bool      // rows are low
	NoKeys         bool      // single keys do nothing
	User, Role     string    // "" shows none
	CanAct         bool      // show buttons that change something
	CanPurge       bool      // and those that purge claims
	Token          string    // for the hidden field token
	LiveURL        string    // socket path with query, prefix included; "" = no live part
	Here           string    // this page's local URL with query, prefix included
	Now            time.Time // database clock at render: "data as of"; relative times count from it
	Notice         *Notice   // what the last action did; nil none
}

// Notice is said once at the top of a page, after a redirect.
type Notice struct {
	Bad  bool
	Text string
	Jobs []string // ids, linked after the text
	Undo bool     // these jobs were deleted just now, and a button restores them
}

// Count is a number of rows; AtLeast prints it as "10,000+".
type Count struct {
	N       int64
	AtLeast bool
}

// JobRowProps is one row of a list of jobs.
type JobRowProps struct {
	ID          string
	Kind, Queue string
	State       State
	Retrying    bool // scheduled as a retry
	Attempt     int  // starts so far
	Retry       int  // retries used
	MaxRetries  *int // nil: unknown, no "of m" is shown
	Losses      int
	Priority    int
	CreatedAt   time.Time
	Since       time.Time  // since when in this state
	RunAt       *time.Time // scheduled only
	Server      string     // processing only
	ErrorType   string
	ErrorLine   string
	Reason      string
	Version     int64 // last history id
	Gone        bool  // left the filter: shown dimmed, where it was
	Unhandled   bool  // no live server has this kind
}

// JobsProps is the list page.
type JobsProps struct {
	ListFilter
	Tabs       TabsProps
	GroupLine  string       // the error of the group, "" unknown
	Partial    bool         // a search was cut off by time; Next goes on
	Exact      *JobRowProps // Q is a number, and this job has it as its id
	Saved      []SavedView  // by this person, in this browser
	Fields     []string     // what a term may begin with, for suggestions
	Rows       []JobRowProps
	After      string   // cursor of this page, "" first
	Next       string   // cursor of the next page, "" when this is the last
	Queues     []string // known names, offered by the filter form
	Kinds      []string
	Never      bool // no job was ever enqueued
	LoadFailed bool
}

// TabsProps is the row of state tabs. A state missing in Counts shows no number:
// with a filter set, give filtered counts or none.
type TabsProps struct {
	ListFilter // of the list below; its state is the current tab
	Version    int64
	Counts     map[State]Count
}

// ConfirmProps says what a press of the button will do, before it is done.
type ConfirmProps struct {
	Do      string        // requeue, delete, restore, cancel
	Jobs    []JobRowProps // these will change
	Skipped []Skipped     // these will not
	Back    string        // local URL of the cancel link
}

// Skipped is a ticked job that cannot take part, with the reason in a few words.
type Skipped struct {
	Job JobRowProps
	Why string
}

// JobProps is the page of one job.
type JobProps struct {
	JobRowProps
	Args           string         // JSON as stored, all digits
	Policy         string         // effective retry policy as JSON, "" unknown
	PolicyFrom     string         // job, kind, "" client
	Timeout        *time.Duration // nil: none
	History        []HistoryProps // newest first
	HistoryTotal   int            // rows there are in all
	Older          string         // history id for the link to older rows, "" none
	Planned        []PlannedRetry // coming retries if each fails, soonest first; may be nil
	GivesUpAt      *time.Time     // when the plan ends, nil unknown
	Tags           []string
	StuckAt        *time.Time   // processing, past its timeout since then
	Cancel         *CancelProps // processing, and asked to end; nil: not asked
	Family         FamilyProps
	Said           SaidProps
	Tab            string // the one panel that is shown, one of JobTabs; "" all
	Claims         []ClaimRowProps
	EffectsFailed  bool // claims or calls could not be read
	EffectsVersion int64
	Calls          []CallRowProps // the newest
}

// HistoryProps is one row of a job's history.
type HistoryProps struct {
	ID                    string
	At                    time.Time
	State                 State // Late: a refused result
	Attempt               int
	Reason, Actor, Server string
	Worker                *int
	Latency, Duration     *time.Duration
	ErrorType, Error      string
	Stack, Rule           string
	RunAt                 *time.Time
	Result                string       // JSON, "" none
	WouldBe               string       // Late only: the state it would have written
	FreshBudget           bool         // requeued with a fresh budget
	Cancel                *CancelProps // the attempt that ended here was asked to; nil: it was not
	Failure               int64        // equal for errors of one type and text, numbers and ids aside; 0: no error
}

// PlannedRetry is the time in which a coming attempt will start; From = To when it is exact.
type PlannedRetry struct {
	Attempt  int
	From, To time.Time
}

// OverviewProps is the start page.
type OverviewProps struct {
	Health   HealthProps
	Chart    ChartProps // 6 h
	Queues   QueuesProps
	Failures FailuresProps // the largest few groups
}

// HealthProps are the numbers of the verdict and the tiles.
type HealthProps struct {
	Version     int64
	Waiting     Count // enqueued
	OldestReady *time.Time
	Processing  Count
	Slots       int // of live servers
	Retrying    Count
	NextRetry   *time.Time
	Failed      Count
	Unsettled   Count // claims
	Muted       int64 // of Failed: in groups that somebody muted
	LiveServers int
	LostServers int           // in the last hour
	Paused      []string      // queues
	Unhandled   []string      // kinds with waiting jobs that no live server has
	Hour        []Bucket      // last hour by the minute
	Warning     *WarningProps // nil: first attempts succeed as usual, or too little is known
	Yesterday   *HourProps    // the hour that ended 24 h ago; nil: not loaded
	Never       bool          // no job was ever enqueued
	LoadFailed  bool
}

// ChartProps is the attempt distribution with the first-attempt rate beneath.
type ChartProps struct {
	Version     int64
	Span, Width time.Duration // shown range and one bucket's width
	Scale       Scale
	Kind, Queue string // filters, "" all
	CodeVersion string // the same: version of the program that ran the attempts
	Buckets     []Bucket
	Rate        RateProps // of the whole range
	Compact     bool      // overview: smaller, no data table
	LoadFailed  bool
}

// Bucket counts the attempts and jobs that ended within one width of time.
type Bucket struct {
	At                   time.Time
	ByAttempt            [4]int64 // succeeded at attempt 1, 2, 3, 4 or later
	Exhausted, Permanent int64
	First, FirstOK       int64     // first attempts that ended, and those that succeeded
	Rate                 RateProps // of FirstOK in First
}

// AttemptsProps is the chart page.
type AttemptsProps struct {
	Chart  ChartProps
	Work   WorkProps
	Queues []string
	Kinds  []string

	CodeVersions []string // of known servers, the newest first
}

// QueuesProps is the table of queues, in the order given.
type QueuesProps struct {
	Version    int64
	Rows       []QueueProps
	LoadFailed bool
	Compact    bool // overview: no buttons
}

// QueueProps is one queue.
type QueueProps struct {
	Name              string
	Depth             Count
	OldestReady       *time.Time
	Running           int64
	FinishedPerMinute float64
	Servers           int
	PausedAt          *time.Time
	PausedBy          string
}

// ServersProps is the page of processes that run jobs, and of the kinds they published.
type ServersProps struct {
	Version    int64
	Rows       []ServerProps
	Kinds      []KindProps
	LoadFailed bool
}

// ServerProps is one process.
type ServerProps struct {
	ID                            string
	Name, Host, Version           string
	PID, Slots, Running           int
	Listening                     bool
	Queues, Kinds                 []string
	StartedAt, SeenAt, LeaseUntil time.Time
	DrainingAt, StoppedAt, LostAt *time.Time
}

// KindProps is what servers published about a kind.
type KindProps struct {
	Kind, Queue string
	MaxRetries  int
	Timeout     *time.Duration
	SeenAt      time.Time
	Handled     bool // a live server has it
	Warnings    []string
}

// MessageProps is a calm page instead of the one asked for. Empty texts are
// filled by status.
type MessageProps struct {
	Status             int
	Title, Sentence    string
	LinkText, LinkHref string
	Job                *JobProps // 409: what the job is now, with the buttons for that
}
