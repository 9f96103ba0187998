"""The manifest of the orchestrator: what this application adds to the engine. It is read by every process, so
it imports nothing but the contract."""

from __future__ import annotations

from pathlib import Path

from docproc.application import Application, Command, Link, Views
from docproc.engine.component_spec import REQUEST_UNIT, ComponentSpec

_HERE = Path(__file__).parent
_PACKAGE = "docproc.apps.orchestrator"

application = Application(
    name="orchestrator",
    components=(
        ComponentSpec(
            "service_call",
            f"{_PACKAGE}.components.service_call:ServiceCallComponent",
            routing_key="service.call",
            takes=REQUEST_UNIT,
            status="processing",
            # §2.2; only the redis transport has streams.
            streams="orchestrator:tasks:{tenant}:{priority}",
        ),
        ComponentSpec(
            "task_result",
            f"{_PACKAGE}.components.task_result:TaskResultComponent",
            routing_key="task.result",
            takes=REQUEST_UNIT,
        ),
    ),
    tables=f"{_PACKAGE}.tables",
    migrations=_HERE / "migrations",
    settings=f"{_PACKAGE}.settings:OrchestratorSettings",
    routers=(
        f"{_PACKAGE}.http.tasks:router",
        f"{_PACKAGE}.http.sockets:router",
        f"{_PACKAGE}.http.schemas:router",
        f"{_PACKAGE}.http.services:router",
        f"{_PACKAGE}.http.sessions:router",
        f"{_PACKAGE}.http.traces:router",
        f"{_PACKAGE}.http.degradation:router",
    ),
    alerts=f"{_PACKAGE}.resilience.alerts:alerts",
    commands=(Command("orchestrator", f"{_PACKAGE}.cli.app:app", "Tasks over services."),),
    views=Views(
        templates=_HERE / "templates",
        static=_HERE / "static",
        texts=_HERE / "texts",
        navigation=(Link("orchestrator", "/orchestrator"),),
        api_pages=(f"{_PACKAGE}.http.pages:router",),
    ),
    log_fields=f"{_PACKAGE}.logs:fields",
    texts_of=f"{_PACKAGE}.mentions:texts",
    requires=("fastapi", "websockets"),
    install="docproc[orchestrator]",
)
