package main

// examples of each command, shown by its help. A test parses all of them.
var examples = map[string][]string{
	"demo": {
		"tekrar demo",
		"tekrar demo --addr 127.0.0.1:9000 --ephemeral --traffic 0",
	},
	"serve": {
		"DATABASE_URL=postgres://app@db/shop tekrar serve --auth none",
		"tekrar serve --addr :8080 --auth basic --users-file /run/secrets/tekrar-users --prefix /ops/jobs",
		"tekrar serve --addr :8080 --auth proxy-header --proxy-header X-Remote-User --trusted-proxies 10.0.0.7,10.1.0.0/16",
	},
	"migrate up":     {"tekrar migrate up", "tekrar migrate up --schema jobs_eu"},
	"migrate status": {"tekrar migrate status", "tekrar migrate status --json | jq -r '.[] | select(.applied_at == null) | .name'"},
	"migrate print":  {"tekrar migrate print > tekrar.sql"},
	"jobs list": {
		"tekrar jobs list --state failed --kind invoice.email",
		"tekrar jobs list --state enqueued --queue mail --json | jq -r '.jobs[].id'",
	},
	"jobs show":    {"tekrar jobs show 4711", "tekrar jobs show 4711 --json --history 500"},
	"jobs requeue": {"tekrar jobs requeue 4711", "tekrar jobs requeue 4711 4712 --fresh"},
	"jobs cancel":  {"tekrar jobs cancel 4711"},
	"jobs delete":  {"tekrar jobs delete 4711 4712", "tekrar jobs delete --yes --json 4711"},
	"jobs enqueue": {
		`tekrar jobs enqueue invoice.email '{"invoice_id":42}'`,
		`tekrar jobs enqueue report.nightly '{}' --queue reports --in 2h --priority -2`,
	},
	"recurring list":   {"tekrar recurring list", "tekrar recurring list --json"},
	"recurring show":   {"tekrar recurring show exchange-rates"},
	"recurring run":    {"tekrar recurring run exchange-rates"},
	"recurring pause":  {"tekrar recurring pause exchange-rates"},
	"recurring resume": {"tekrar recurring resume exchange-rates"},
	"recurring remove": {"tekrar recurring remove exchange-rates", "tekrar recurring remove --yes exchange-rates"},
	"claims list":      {"tekrar claims list", "tekrar claims list --tab done --limit 500 --json"},
	"claims show":      {"tekrar claims show invoice-email/42"},
	"claims reclaim":   {"tekrar claims reclaim invoice-email/42 --note 'host was switched off'"},
	"claims mark-delivered": {
		"tekrar claims mark-delivered invoice-email/42 --note 'seen in the provider log'",
		"tekrar claims mark-delivered invoice-email/42 --token 17 --yes",
	},
	"claims mark-not-delivered": {"tekrar claims mark-not-delivered invoice-email/42"},
	"claims send-again":         {"tekrar claims send-again invoice-email/42 --note 'customer lost it'"},
	"claims purge":              {"tekrar claims purge --dry-run", "tekrar claims purge --window 2160h --yes"},
	"queues list":               {"tekrar queues list", "tekrar queues list --json | jq '.[] | select(.servers == 0)'"},
	"queues pause":              {"tekrar queues pause mail"},
	"queues resume":             {"tekrar queues resume mail"},
	"servers list":              {"tekrar servers list"},
	"doctor":                    {"tekrar doctor", "tekrar doctor --json --long 5m"},
	"users hash":                {"tekrar users hash ada operator >> users", "printf '%s' \"$SECRET\" | tekrar users hash ada admin"},
	"bench":                     {"tekrar bench drain latency --jobs 50000", "tekrar bench chaos --minutes 5 --seed 7"},
	"healthcheck":               {"tekrar healthcheck", "tekrar healthcheck --addr :9000 --prefix /ops/jobs"},
	"completion": {
		"tekrar completion bash > /etc/bash_completion.d/tekrar",
		"tekrar completion zsh > \"${fpath[1]}/_tekrar\"",
		"tekrar completion fish > ~/.config/fish/completions/tekrar.fish",
	},
	"version": {"tekrar version", "tekrar version --json"},
}
