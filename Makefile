.DEFAULT_GOAL := help
.PHONY: help demo test race generate licences check preview build docker

help: ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: ## start the bookstore demo on 127.0.0.1:8080
	go run ./cmd/tekrar demo

test: ## run every test; starts its own Postgres
	go test ./...

race: ## run every test with the race detector (needs a C compiler)
	go test -race ./...

generate: ## write *_templ.go from *.templ
	.ci/generate

licences: ## write docs/licences.md from the module cache
	go test ./cmd/tekrar -run TestLicencesAreListed -count 1 -args -write-licences

check: ## everything that CI checks
	.ci/run

preview: ## serve every view from fixtures, no database
	go run ./cmd/preview

# The same sources, flags and version of Go give the same bytes, in whatever folder.
build: ## build a static, reproducible binary into ./tekrar
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o tekrar ./cmd/tekrar

docker: ## build the container image tekrar:latest
	docker build --build-arg COMMIT="$$(git rev-parse HEAD)" -t tekrar:latest .
