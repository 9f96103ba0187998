"""Sample services: they stand in for services that a deployment does not have, so that every flow works."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import structlog

from docproc.apps.orchestrator.sdk.serving import Serving
from docproc.apps.orchestrator.sdk.task import ServiceTask
from docproc.apps.orchestrator.services.catalogue import Catalogue
from docproc.apps.orchestrator.services.wires.sql import SqlPort
from docproc.apps.orchestrator.settings import OrchestratorSettings, wire_name
from docproc.engine.store.session import Store
from docproc.engine.store.workers import new_worker_id
from docproc.settings import Settings

log = structlog.get_logger(__name__)
_QUARTERS: Final = (25, 50, 75)


async def agent(task: ServiceTask) -> Mapping[str, Any]:
    """Reports its progress, asks for a tool where the task says so, and answers what it was asked."""
    for percent in _QUARTERS[:2]:
        await task.progress(percent)
    found = None
    if isinstance(wanted := task.payload.get("use_tool"), dict):
        found = await task.tool(
            str(wanted.get("tool", "search")), wanted.get("arguments", {}), service=wanted.get("service")
        )
    await task.progress(_QUARTERS[2])
    text = str(task.payload.get("prompt") or task.payload.get("input") or "")
    return {"answer": f"You said: {text}" if text else "Done", **({"tool_result": found} if found else {})}


async def tools(task: ServiceTask) -> Mapping[str, Any]:
    """The tools there are, or what one of them finds."""
    if task.payload.get("tool"):
        return {"tool": task.payload["tool"], "result": task.payload.get("arguments", {})}
    return {"tools": ["search", "calculate"]}


async def query(task: ServiceTask) -> Mapping[str, Any]:
    """Finds what was asked for in what it was given."""
    asked = task.payload.get("arguments", {}).get("query") or task.payload.get("query") or ""
    return {"matches": [{"text": str(asked), "score": 1.0}] if asked else []}


async def echo(task: ServiceTask) -> Mapping[str, Any]:
    """Any other service: says what it was sent."""
    for percent in _QUARTERS:
        await task.progress(percent)
    return {"received": task.payload}


FUNCTIONS: Final[Mapping[str, Callable[[ServiceTask], Awaitable[Mapping[str, Any]]]]] = {
    "agent-execution": agent,
    "tool-registry": tools,
    "query-service": query,
}


class SampleServices:
    """Those of this process. Nothing where the settings name none, or services are on another wire."""

    def __init__(self, settings: Settings, store: Store, catalogue: Catalogue) -> None:
        queues = [catalogue.services[name].queue for name in _names(settings, catalogue)]
        self._port = SqlPort(store, name=f"samples-{new_worker_id()}")
        self._serving = Serving(self._port, queues, {"*": _answered}, at_once=20) if queues else None
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        if self._serving is not None:
            self._running = asyncio.create_task(self._serve(self._serving), name="sample services")

    async def _serve(self, serving: Serving) -> None:
        try:
            await serving.run()
        except Exception:  # nobody waits for this task: what ends it must be seen
            log.exception("sample_services_failed")

    def wake(self) -> None:
        """Calls were opened in this process."""
        self._port.wake()

    async def stop(self) -> None:
        if self._serving is not None and self._running is not None:
            self._serving.stop()
            await asyncio.gather(self._running, return_exceptions=True)


async def _answered(task: ServiceTask) -> Mapping[str, Any]:
    return await FUNCTIONS.get(task.envelope.target_service, echo)(task)


def _names(settings: Settings, catalogue: Catalogue) -> list[str]:
    if wire_name(settings) != "sql":
        return []
    named = settings.section(OrchestratorSettings).orchestrator_samples
    if named is None and not settings.is_embedded:
        return []
    here = [one for one in catalogue.services.values() if one.url is None]
    return [one.name for one in here if named is None or one.name in named]
