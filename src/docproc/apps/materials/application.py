"""The manifest of materials: what this application adds to the engine. It is read by every process, so it
imports nothing but the contract."""

from __future__ import annotations

from pathlib import Path

from docproc.application import Application, Command, Link, Views
from docproc.engine.component_spec import REQUEST_UNIT, ComponentSpec

_HERE = Path(__file__).parent
_PACKAGE = "docproc.apps.materials"


def _stage(name: str, path: str, status: str | None = None, *, asks_people: bool = False) -> ComponentSpec:
    return ComponentSpec(
        f"material_{name}",
        f"{_PACKAGE}.components.{path}",
        routing_key=f"material.{name}",
        takes=REQUEST_UNIT,
        status=status,
        asks_people=asks_people,
    )


application = Application(
    name="materials",
    components=(
        _stage("fetch", "fetch:Fetch", "fetching"),
        _stage("text", "text:Text", "reading"),
        _stage("summary", "summary:SummaryStage", "summarising"),
        _stage("quiz", "quiz:QuizStage", "questioning"),
        _stage("check", "check:Check"),
        _stage("store", "store:StoreStage", "storing", asks_people=True),
    ),
    workflows=_HERE / "workflows",
    tables=f"{_PACKAGE}.tables",
    migrations=_HERE / "migrations",
    settings=f"{_PACKAGE}.settings:MaterialsSettings",
    routers=(f"{_PACKAGE}.http.materials:router", f"{_PACKAGE}.http.editing:router"),
    commands=(
        Command(
            "material",
            f"{_PACKAGE}.cli.app:app",
            "Materials: a PDF to a summary and a quiz.",
        ),
    ),
    task_kinds={"material_question": f"{_PACKAGE}.review.kind:QuestionKind"},
    views=Views(
        templates=_HERE / "templates",
        static=_HERE / "static",
        texts=_HERE / "texts",
        navigation=(Link("materials", "/library", role="supervisor"),),
        api_pages=(f"{_PACKAGE}.http.pages:router",),
    ),
    erase=f"{_PACKAGE}.erasing:erase",
    texts_of=f"{_PACKAGE}.erasing:texts",
    requires=("aiormq", "fastapi", "numpy", "obstore", "openai", "pymongo", "pypdfium2", "rapidocr"),
    install="docproc[materials]",
)
