# Needs only Python ≥ 3.11, make and a package registry: every target sets up .venv by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

ARGS ?=

.PHONY: install demo test lint format bench train clean-venv

install: $(STAMP)

# Installed anew only when what is to be installed changed.
$(STAMP): pyproject.toml
	@echo "Setting up $(VENV) (a minute or two the first time) …"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# A packet drawn, processed and shown, in a folder of its own so that it can be run again and again.
demo: install
	@DOCPROC=$(CURDIR)/$(BIN)/docproc sh examples/packet/demo.sh

test: install
	$(BIN)/python -m pytest --numprocesses 2 --dist loadgroup $(ARGS)

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
	$(BIN)/python bench/sla.py
	$(BIN)/python bench/sla.py --faults
	$(BIN)/python bench/backoffice.py
	@# The readers' dependencies are not ours, so they get their own environment; without it they are skipped.
	-$(PYTHON) -m venv $(VENV)/peers && $(VENV)/peers/bin/python -m pip install --quiet \
		--disable-pip-version-check -r bench/peers/requirements-documents.txt
	$(BIN)/python bench/pipeline.py
	$(BIN)/python bench/ocr.py

# All models anew, from samples and the labelled folders in DATA: make train DATA="folder other/folder".
train: install
	$(BIN)/python -m docproc.apps.documents.quality.training $(DATA) $(ARGS)

clean-venv:
	rm -rf $(VENV)
