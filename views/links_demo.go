package views

// DemoProvider is the page of the demo's provider: GET, ?key= looks a key up.
func (l Links) DemoProvider() string { return l.Path("/demo/provider") }

// DemoProviderTurn sets its switches; POST only, with a field for each.
func (l Links) DemoProviderTurn() string { return l.Path("/demo/provider-turn") }
