package views

import "encoding/json"

// liveWords are the sentences of static/app.js as JSON, "{}" in the place of what it
// fills in.
func liveWords(l Layout) string {
	data, err := json.Marshal(map[string]string{
		"connecting":     l.Say("connecting, as of %s", "{}"),
		"live":           l.Say("live, %s", "{}"),
		"paused":         l.Say("paused, as of %s", "{}"),
		"reconnecting":   l.Say("reconnecting, as of %s", "{}"),
		"polling":        l.Say("polling, as of %s", "{}"),
		"islive":         l.Say("Live updates are on."),
		"ispaused":       l.Say("Live updates are paused."),
		"isreconnecting": l.Say("Connection lost, reconnecting."),
		"ispolling":      l.Say("No live connection. The page is checked every 15 seconds."),
		"pause":          l.Say("Pause"),
		"resume":         l.Say("Resume"),
		"ago":            l.Say("%s ago", "{}"),
		"in":             l.Say("in %s", "{}"),
		"now":            l.Say("now"),
		"s":              l.Say("%s s", "{}"),
		"min":            l.Say("%s min", "{}"),
		"h":              l.Say("%s h", "{}"),
		"d":              l.Say("%s d", "{}"),
		"state":          l.Say("The job is now %s.", "{}"),
		"news":           l.Say("%s new: show", "{}"),
		"newRows":        l.Say("%s new rows.", "{}"),
		"ticked":         l.Say("%s ticked", "{}"),
		"copy":           l.Say("Copy"),
		"copied":         l.Say("Copied"),
	})
	if err != nil {
		panic(err) // strings always encode
	}
	return string(data)
}
