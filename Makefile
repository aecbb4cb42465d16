# One word runs everything. Each target makes .venv and installs what it needs.

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-long test-shared test-packaging lint format types layers wheel bench bench-shapes bench-kills clean

# The first Python >= 3.11 that can make virtual environments; override with make PYTHON=...
PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python3.14; do \
	"$$p" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { command -v "$$p"; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
PYTEST := $(BIN)/python -m pytest -q

help:  ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(BIN)/python:
	@"$(or $(PYTHON),false)" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "No Python >= 3.11 with venv found: install python3.11 and python3.11-venv, or say make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "Making $(VENV) with $(PYTHON)"
	@"$(PYTHON)" -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml setup.py | $(BIN)/python
	@echo "Installing prism-rdf and what it needs (a minute or two)"
	@$(PIP) install -e .
	@touch $@

$(VENV)/.dev: pyproject.toml setup.py | $(BIN)/python
	@echo "Installing prism-rdf and the tools of its developers (a minute or two)"
	@$(PIP) install -e '.[dev]'
	@touch $@ $(VENV)/.runtime

# Without the model recall does without its vector leg, and says so: that must not stop anybody.
$(VENV)/.model: | $(VENV)/.runtime
	@$(BIN)/prism model install >/dev/null && touch $@ || true

demo: $(VENV)/.runtime $(VENV)/.model  ## ingest this project's own decisions and ask what was true when
	@$(BIN)/python demo/run.py

test: $(VENV)/.dev $(VENV)/.model  ## all tests that need nothing but this checkout
	@$(PYTEST) -m 'not packaging and not shared and not slow'

test-slow: $(VENV)/.dev  ## tests of real processes, crashes and whole stores written anew
	@$(PYTEST) -m 'slow and not packaging and not shared' tests

test-long: $(VENV)/.dev  ## hours: 100,000 random operations of the time engine, all of its real data, 200 kills of the owner
	@PRISM_LONG=1 $(PYTEST) -s tests/temporal/test_machine.py tests/temporal/test_interval_data.py tests/validation/test_screen.py
	@PRISM_TEST_KILLS=200 $(PYTEST) tests/owner/test_death.py

test-shared: $(VENV)/.dev  ## tests on the data in ../shared; they skip where there is none
	@$(PYTEST) -rs -m shared tests

test-packaging: $(VENV)/.dev  ## build, install and run a wheel and an editable install
	@$(PYTEST) -rs -m packaging tests

lint: $(VENV)/.dev  ## ruff: rules and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

format: $(VENV)/.dev  ## mend what ruff can mend
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

types: $(VENV)/.dev  ## mypy --strict
	@$(BIN)/mypy

layers: $(VENV)/.dev  ## imports go down only
	@$(BIN)/lint-imports --no-logo

wheel: $(VENV)/.dev  ## build dist/*.whl
	@rm -rf build dist
	@$(BIN)/python -m build --wheel --outdir dist . >/dev/null && ls dist

bench: $(VENV)/.runtime  ## print the budgets of the time engine as ratios; SIZES="--states 1000000" for another size
	@$(BIN)/python bench/time_engine.py $(or $(SIZES),--states 10000 --per-entity 5)

bench-shapes: $(VENV)/.runtime  ## print what judging a whole store costs beside pySHACL, as ratios; SIZES as for bench
	@$(BIN)/python bench/validation.py $(or $(SIZES),--states 10000)

bench-kills: $(VENV)/.runtime  ## kill an ingestion of every PEP ten times and compare it with an undisturbed one; BUNDLE=peps.bundle
	@$(BIN)/python bench/ingest/kills.py $(if $(BUNDLE),--bundle $(BUNDLE))

clean:  ## remove what the other targets made
	@rm -rf $(VENV) .demo build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
