# Needs make, git, npm with Node.js 20 or newer, and Go for the tools that are not installed. The rest is set up here.
.DEFAULT_GOAL := help
.PHONY: help tools demo test check build bench

INSTALLED := node_modules/.package-lock.json

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-6s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

tools: $(INSTALLED) ## Find or build nats-server and Pulumi (minutes on the first run, then nothing)
	@npm run --silent tools

demo: $(INSTALLED) tools ## Take six commits through a hub and two clusters on this machine
	@hub/cli/towline local --demo --once

test: check tools build ## Everything that has to pass: check, build, all tests
	@npm run --silent test

check: $(INSTALLED) ## Types, lint, format
	@npm run --silent check

build: $(INSTALLED) ## One bundle for each entry point, in dist/
	@npm run --silent build

bench: tools ## Measure runs against bare Pulumi, an idle fleet, and change detection at 10,000 stacks
	@npm run --silent bench:agent
	@npm run --silent bench:detect

# npm does not link a package's own command. The link makes the command run without npx as well.
$(INSTALLED): package-lock.json
	npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@ln -sf ../../hub/cli/towline node_modules/.bin/towline
	@touch $@
