# Needs Python 3.11 or newer, git and make. Everything is installed into .venv; `make` alone shows what there is.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input

# Where it is set, as in many containers, each of the hundreds of processes that the tests start compiles all it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run test test-all check audit bench soak explore clean
.DEFAULT_GOAL := help

help:
	@echo "make run       the demo: a worked story against a sample upstream"
	@echo "make test      the tests, without the slow ones"
	@echo "make test-all  all tests"
	@echo "make check     format, lint, types, the direction of imports; what make audit finds, where pypi.org answers"
	@echo "make audit     known vulnerabilities of what is installed; needs pypi.org"
	@echo "make soak      agents, faults and a checker of what came of it; SOAK=\"--seconds 3600 --seed 7\""
	@echo "make explore   every order of a small world's events, on the real scripts"
	@echo "make bench     how fast it is, beside nginx; BENCH=\"--help\" says what it can be told"
	@echo "make clean     remove what these have made"

# A stamp is newer than its install: nothing is installed twice until pyproject.toml changes.
$(VENV)/run.stamp: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --upgrade "pip>=25.1"
	@$(PIP) install --editable .
	@touch $@

$(VENV)/test.stamp: $(VENV)/run.stamp
	@$(PIP) install --group test
	@touch $@

$(VENV)/check.stamp: $(VENV)/run.stamp
	@$(PIP) install --group check
	@touch $@

run: $(VENV)/run.stamp
	@$(BIN)/fencegate demo

test: $(VENV)/test.stamp
	@$(BIN)/python -m pytest -n 4 --dist worksteal -m "not slow"

test-all: $(VENV)/test.stamp
	@$(BIN)/python -m pytest -n 2

check: $(VENV)/check.stamp
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@if $(BIN)/python -c 'import json, urllib.request as url; json.load(url.urlopen("$(ADVISORY)", timeout=10))["vulnerabilities"]' \
		2>/dev/null; then $(MAKE) --no-print-directory audit; else echo "not audited: pypi.org does not answer here"; fi

# An old release with advisories: a mirror of the index has none.
ADVISORY := https://pypi.org/pypi/jinja2/2.4.1/json

audit: $(VENV)/test.stamp $(VENV)/check.stamp
	@$(BIN)/python -m pip freeze --exclude-editable > $(VENV)/audited.txt
	@$(BIN)/pip-audit --strict --no-deps --disable-pip --progress-spinner off -r $(VENV)/audited.txt \
		|| { echo "make audit: vulnerable, or not audited: the lines above say which. Mirrors have no advisories; pypi.org is needed."; exit 1; }

soak: $(VENV)/test.stamp
	@$(BIN)/python -m tests.history $(SOAK)

explore: $(VENV)/test.stamp
	@$(BIN)/python -m tests.model.explore $(EXPLORE)

bench: $(VENV)/run.stamp
	@$(BIN)/python -m tests.bench $(BENCH)

clean:
	rm -rf $(VENV) .fencegate .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
