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

check: $(READY) system ## style, types, import rules and tests
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	$(PY) -m firmware_protocol.generate --check
	$(VENV)/bin/pytest -n auto --dist loadfile -m "not long"

test: check ## everything CI runs

test-long: $(READY) system ## the tests that take many minutes
	$(VENV)/bin/pytest -m long

bench: $(READY) ## our figures, each beside its peer in the same run
	$(VENV)/bin/companion bench

firmware: ## the firmware's images in build/firmware; docs/hardware.md says how to flash them
	$(call packages,$(HAS_AVR_GCC),gcc-avr avr-libc,No firmware can be built)
	@$(MAKE) --no-print-directory -s -C firmware_protocol/firmware BOARD=uno OUT=$(CURDIR)/build/firmware
	@$(MAKE) --no-print-directory -s -C firmware_protocol/firmware BOARD=mega OUT=$(CURDIR)/build/firmware
	@ls $(CURDIR)/build/firmware/*.hex

# What the tests take from the system: a browser for the pages, compilers and simavr for the firmware.
system:
	$(call packages,$(HAS_BROWSER) && $(HAS_AVR_GCC) && $(HAS_SIMAVR),chromium fonts-dejavu-core gcc libc6-dev \
	  gcc-avr avr-libc libsimavr-dev libelf-dev,The tests of page or firmware are skipped)

HAS_BROWSER := command -v chromium >/dev/null
HAS_AVR_GCC := command -v avr-gcc >/dev/null && echo '\#include <avr/io.h>' | avr-gcc -mmcu=atmega328p -fsyntax-only -x c -
HAS_SIMAVR := test -e /usr/include/simavr/sim_avr.h && test -e /usr/include/libelf.h && command -v cc >/dev/null

# $(call packages,TEST,PACKAGES,LACK): where the test fails we install the packages as root, else we say what to install.
define packages
	@{ $(1); } 2>/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends -o DPkg::Lock::Timeout=300 $(2) >/dev/null; \
	  else echo "$(3): install the packages" $(2) >&2; fi; }
endef

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.PHONY: help setup demo check test test-long bench firmware system clean
