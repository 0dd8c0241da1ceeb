.DEFAULT_GOAL := help
VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready

help: ## what each command does
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-10s %s\n", $$1, $$2}'

$(READY): pyproject.toml constraints.txt
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed as python3" >&2; exit 1; }
	@test -x $(PY) || python3 -m venv $(VENV) || { echo "python3 cannot make virtual environments: install python3-venv" >&2; exit 1; }
	$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

setup: $(READY) ## the virtual environment, with pinned versions

demo: $(READY) ## a simulated table with its dashboard, no hardware
	$(VENV)/bin/companion demo

check: $(READY) browser ## style, types, import rules and tests
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	$(VENV)/bin/pytest -m "not long"

test: check ## everything CI runs

test-long: $(READY) browser ## the tests that take many minutes
	$(VENV)/bin/pytest -m long

bench: $(READY) ## our figures, each beside its peer in the same run
	$(VENV)/bin/companion bench

# The browser of the page tests comes from the system: as root we install it, else we say what to install.
browser:
	@command -v chromium >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends -o DPkg::Lock::Timeout=300 chromium fonts-dejavu-core >/dev/null; \
	  else echo "The page tests are skipped: install the package chromium to run them" >&2; fi; }

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.PHONY: help setup demo check test test-long bench browser clean
