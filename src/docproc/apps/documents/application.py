"""The manifest of documents: what this application adds to the engine. It is read by every process, so it
imports nothing but the contract."""

from __future__ import annotations

from pathlib import Path

from docproc.application import Application, Command, Link, Section, Views
from docproc.apps.documents.statuses import DocumentsStatus
from docproc.engine.component_spec import REQUEST_UNIT, ComponentSpec

_HERE = Path(__file__).parent
_PACKAGE = "docproc.apps.documents"

# The units of work between the request and its answer.
PAGE, DOCUMENT = "page", "document"


def _component(module: str, name: str, routing_key: str, **rest: object) -> ComponentSpec:
    path = f"{_PACKAGE}.components.{module}:{name}"
    return ComponentSpec(module, path, routing_key=routing_key, **rest)  # type: ignore[arg-type] # checked when loaded


_COMPONENTS = (
    _component(
        "splitter", "Splitter", "request.split",
        takes=REQUEST_UNIT, gives=PAGE, status=DocumentsStatus.SPLITTING,
    ),
    _component("ocr", "Ocr", "page.ocr", takes=PAGE, status=DocumentsStatus.PROCESSING),
    _component(
        "classifier", "Classifier", "page.classify",
        takes=PAGE, status=DocumentsStatus.PROCESSING, asks_people=True,
    ),
    _component(
        "classification_aggregator", "ClassificationAggregator", "page.classified",
        takes=PAGE, gives=DOCUMENT, joins=True, collects="classification", asks_people=True,
        only_counts=f"{_PACKAGE}.counting:counts_pages",
    ),
    _component(
        "extractor", "Extractor", "doc.extract",
        takes=(DOCUMENT, PAGE), status=DocumentsStatus.EXTRACTING, asks_people=True,
    ),
    _component(
        "extraction_aggregator", "ExtractionAggregator", "doc.extracted",
        takes=(DOCUMENT, PAGE), joins=True, collects="extraction",
        only_counts=f"{_PACKAGE}.counting:counts_documents",
    ),
    _component(
        "consolidator", "Consolidator", "request.consolidate",
        takes=REQUEST_UNIT, status=DocumentsStatus.CONSOLIDATING,
    ),
)  # fmt: skip

_COMMANDS = (
    Command(
        "run", f"{_PACKAGE}.cli.run:run",
        "Process files here and now, and show what is in them; exit 1 when one failed.",
    ),
    Command(
        "submit", f"{_PACKAGE}.cli.submit:submit",
        "Send files to a running DocProc and say the ids of the requests; exit 1 when one was refused.",
    ),
    Command(
        "eval", f"{_PACKAGE}.cli.eval:evaluate",
        "Measure pages, documents and fields against their labels.",
    ),
    Command(
        "learn", f"{_PACKAGE}.cli.learn:learn",
        "Learn from corrections and labelled folders; new weights are kept only if they measure better.",
    ),
    Command(
        "capacity", f"{_PACKAGE}.cli.capacity:app",
        "Plan workers and people for a volume; measure this machine.",
    ),
    Command(
        "corrections", f"{_PACKAGE}.cli.corrections:app",
        "What people said was right: labelled examples, and a memory.",
    ),
)  # fmt: skip

_INSTALLED_WORKFLOWS = _HERE / "workflows"

application = Application(
    name="documents",
    components=_COMPONENTS,
    sections=(
        Section(
            "early_answer", f"{_PACKAGE}.schemas:EarlyAnswer", check=f"{_PACKAGE}.schemas:check_early_types"
        ),
        Section("extraction_schemas", f"{_PACKAGE}.schemas:ExtractionSchemas"),
    ),
    # The copies in the wheel; in a checkout, the originals.
    workflows=_INSTALLED_WORKFLOWS
    if _INSTALLED_WORKFLOWS.is_dir()
    else _HERE.parents[3] / "config/workflows",
    tables=f"{_PACKAGE}.tables",
    migrations=_HERE / "migrations",
    settings=f"{_PACKAGE}.settings:DocumentsSettings",
    routers=(
        f"{_PACKAGE}.http.process:router",
        f"{_PACKAGE}.http.results:router",
        f"{_PACKAGE}.http.page_images:router",
    ),
    commands=_COMMANDS,
    task_kinds={
        "classification": f"{_PACKAGE}.review.kinds:classification",
        "extraction": f"{_PACKAGE}.review.kinds:extraction",
    },
    views=Views(
        templates=_HERE / "templates",
        static=_HERE / "static",
        texts=_HERE / "texts",
        # Among the tabs of supervisors.
        navigation=(Link("sup_requests", "/supervisor/requests", server="backoffice", role="supervisor"),),
        station_pages=(
            f"{_PACKAGE}.review.station_tasks:router",
            f"{_PACKAGE}.review.station_packets:router",
            f"{_PACKAGE}.review.station_documents:router",
            f"{_PACKAGE}.review.station_requests:router",
        ),
        requests=f"{_PACKAGE}.http.views:view",
        console=f"{_PACKAGE}.http.console:view",
        terminal=f"{_PACKAGE}.cli.view:view",
    ),
    log_fields=f"{_PACKAGE}.logs:fields",
    erase=f"{_PACKAGE}.store.erasing:erase",
    units=f"{_PACKAGE}.store.tenancy:units",
    texts_of=f"{_PACKAGE}.store.tenancy:texts",
    golden=f"{_PACKAGE}.quality.golden:comparable",
    describe=f"{_PACKAGE}.store.described:describe",
    alerts=f"{_PACKAGE}.alerts:alerts",
    requires=("fastapi", "numpy", "openvino", "pypdfium2", "rapidocr"),
    install="docproc[documents]",
)
