# Needs only Python ≥ 3.11, make and a package registry: every target sets up .venv by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

ARGS ?=

.PHONY: install demo test lint format bench clean-venv

install: $(STAMP)

# Installed anew only when what is to be installed changed.
$(STAMP): pyproject.toml
	@echo "Setting up $(VENV) (a minute or two the first time) …"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# The tutorial's example, in a folder of its own so that it can be run again and again.
demo: install
	@DOCPROC=$(CURDIR)/$(BIN)/docproc sh examples/words/demo.sh

test: install
	$(BIN)/python -m pytest $(ARGS)

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r bench/peers/requirements.txt
	$(BIN)/python bench/fanout.py
	$(BIN)/python bench/faults.py

clean-venv:
	rm -rf $(VENV)
