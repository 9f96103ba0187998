# Needs only Python ≥ 3.11, make and a package registry: every target sets up .venv by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

ARGS ?=

PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: install lock demo test lint format bench train docs clean-venv up down logs clean migrate-docker verify

install: $(STAMP)

# Installed anew only when what is to be installed changed.
# Everything comes from the lock, the build backend included: no isolated build that would fetch another one.
$(STAMP): pyproject.toml packages/docproc-samples/pyproject.toml requirements/dev.txt
	@echo "Setting up $(VENV) (a minute or two the first time) …"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP_INSTALL) --require-hashes --requirement requirements/dev.txt
	@$(PIP_INSTALL) --no-deps --no-build-isolation --editable . --editable packages/docproc-samples
	@touch $@

# The lock anew after a change of dependencies; newer versions with ARGS=--upgrade. Folders and further indexes of this
# machine's pip are left out, because others do not have them; a mirror given as PIP_INDEX_URL serves.
lock:
	@$(PYTHON) -m venv $(VENV)/lock
	@$(VENV)/lock/bin/python -m pip install --quiet --disable-pip-version-check 'pip-tools>=7.5'
	@env -u PIP_FIND_LINKS -u PIP_EXTRA_INDEX_URL PIP_CONFIG_FILE=/dev/null \
		$(VENV)/lock/bin/python requirements/lock.py --quiet $(ARGS)

# A packet drawn, processed and shown, in a folder of its own so that it can be run again and again.
demo: install
	@DOCPROC=$(CURDIR)/$(BIN)/docproc sh examples/packet/demo.sh

test: install
	$(BIN)/python -m pytest --numprocesses 2 --dist loadgroup $(ARGS)

lint: install
	$(BIN)/python requirements/lock.py --check
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
	$(BIN)/python bench/fairness.py
	$(BIN)/python bench/faults.py
	$(BIN)/python bench/chaos.py --quick
	$(BIN)/python bench/steady.py --quick
	$(BIN)/python bench/sla.py
	$(BIN)/python bench/sla.py --faults
	$(BIN)/python bench/resilience.py
	$(BIN)/python bench/monitor.py
	$(BIN)/python bench/observing.py
	$(BIN)/python bench/backoffice.py
	$(BIN)/python bench/blobs.py
	$(BIN)/python bench/orchestrator.py --quick
	@# The readers' dependencies are not ours, so they get their own environment; without it they are skipped.
	-$(PYTHON) -m venv $(VENV)/peers && $(VENV)/peers/bin/python -m pip install --quiet \
		--disable-pip-version-check -r bench/peers/requirements-documents.txt
	$(BIN)/python bench/pipeline.py
	$(BIN)/python bench/ocr.py

# All models anew, from samples and the labelled folders in DATA: make train DATA="folder other/folder".
train: install
	$(BIN)/python -m docproc_samples.training $(DATA) $(ARGS)

# The documentation as pages, in build/site; a broken link is an error. Nothing is downloaded.
docs: install
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet $(ARGS)
	@echo "build/site/index.html"

# --- the whole deployment in containers (docs/how-to/deploy-with-compose.md) ------------------------------------------

COMPOSE ?= docker compose
# Which applications: `make up APPS=documents,materials`; each but documents is a profile of the same name. Others: PROFILES=monitoring.
APPS ?= documents
export DOCPROC_APPLICATIONS ?= $(APPS)
export COMPOSE_PROFILES ?= $(APPS)$(if $(PROFILES),$(comma)$(PROFILES))
comma := ,

up:
	$(COMPOSE) up --build --detach

down:
	$(COMPOSE) --profile '*' down

logs:
	$(COMPOSE) logs --follow

# make logs-ocr, make logs-sla-monitor …
logs-%:
	$(COMPOSE) logs --follow $*

# Everything is stopped, and its data is gone.
clean:
	$(COMPOSE) --profile '*' down --volumes --remove-orphans

migrate-docker:
	$(COMPOSE) exec api-gateway alembic upgrade head

# The six steps of the specification's verification, against what `make up` started.
verify:
	$(PYTHON) deploy/verify.py --file tests/fixtures/packet.pdf $(ARGS)

clean-venv:
	rm -rf $(VENV)
