package views

import "time"

// ProviderProps is the page of the demo's provider: its switches, a look-up, its log.
type ProviderProps struct {
	Title, Lead string
	Switches    []ProviderSwitch
	TurnedBy    string    // who turned them last
	TurnedAt    time.Time // when; zero: nobody has
	Error       string    // of the switches' form: names the field and the limit
	Key         string    // that was looked up
	Found       string    // what became of it; "" nobody asked
	Log         DemoReport
}

// ProviderSwitch is a choice, on if Value is not empty, or a number.
type ProviderSwitch struct {
	Name, Label, Value, Hint string
	Choice                   bool
}

// DemoProps is the page of scenario cards, with tables of what they came to.
type DemoProps struct {
	Cards         []DemoCard
	Reports       []DemoReport
	ReportsFailed bool
	Provider      string // title of the provider's page; "" none
}

// DemoReport is a table below the cards.
type DemoReport struct {
	Title, Lead string
	Head        []string
	Rows        []DemoReportRow
}

// DemoReportRow is one line of it.
type DemoReportRow struct {
	Job   string // id, linked; "" none
	Bad   bool
	Cells []string
}

// DemoCard is one scenario and its form, filled with what was typed last.
type DemoCard struct {
	Key, Title string
	Kind       string
	Story      string // what happens, one or two sentences
	Expect     string // how it will end, one sentence
	Count      string
	MaxCount   int // 0: the card has no count field
	Delay      string
	Fields     []DemoField
	Error      string   // names the field and the limit; "" none
	Jobs       []string // ids enqueued by the last press, linked
}

// DemoField is one argument of a card.
type DemoField struct {
	Name, Label, Value, Hint string
	Number                   bool // numeric keyboard
}
