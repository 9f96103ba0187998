"""One material processed here and now: an App on SQLite, its stages in this process, the rest in children."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any
from uuid import UUID

from sqlalchemy import select

from docproc.app import App, open_database
from docproc.apps.materials.application import application as manifest
from docproc.apps.materials.order import PAYLOAD_KEY, WORKFLOW, Order
from docproc.apps.materials.store import Kind
from docproc.apps.materials.stores.choosing import open_store
from docproc.engine.store.requests import TERMINAL, readable_error
from docproc.engine.store.tables import Request
from docproc.errors import DocProcError, RequestConflictError
from docproc.http.reception import Arrival, reception_of
from docproc.settings import Settings
from docproc.terminal.output import load_settings

_ROUTER = "workflow_router"
_CHUNK = 1 << 20
_LOOK_SECONDS = 0.05
_SHUTDOWN_SECONDS = 1.0

# Told the request's status, again and again.
Told = Callable[[str], None]


class FailedError(DocProcError):
    """The material could not be processed; the message says why."""


class InterruptedHere(Exception):
    """Somebody pressed Ctrl-C: the request was cancelled."""


def embedded_settings(home: Path | None, **more: Any) -> Settings:
    """The settings of one command that does all by itself, whatever servers the environment names."""
    overrides: dict[str, Any] = {
        "rabbitmq_url": None,
        "transport": "sql",
        "storage_url": None,
        "warm_up": False,  # the readers are loaded by the first page that needs them
        "review": "flag",  # nobody can be asked here
        "shutdown_seconds": _SHUTDOWN_SECONDS,
        **more,
    }
    if home is not None:
        home = home.expanduser().absolute()
        overrides |= {"home": home, "storage_path": home / "storage", "database_url": None}
    elif not Settings.load().is_embedded:
        overrides["database_url"] = None
    return load_settings(**overrides)


async def process(
    settings: Settings, file: Path, order: Order, told: Told, stopping: asyncio.Event
) -> dict[Kind, dict[str, Any]]:
    """The two documents as stored. Raises FailedError, or InterruptedHere once `stopping` is set."""
    async with open_database(settings) as application:
        ended = asyncio.Event()
        worker = application.worker([_ROUTER, *(component.name for component in manifest.components)])
        working = asyncio.create_task(worker.run(ended))
        try:
            request_id = await _submit(application, file, order)
            await _finished(application, request_id, working, told, stopping)
            return await _documents(application, order.material_id)
        finally:
            ended.set()
            await asyncio.gather(working, return_exceptions=True)


async def _submit(application: App, file: Path, order: Order) -> UUID:
    reception = reception_of(application)
    request_id = reception.new_request_id()
    try:
        with await asyncio.to_thread(file.open, "rb") as content:
            upload = await reception.store_file(request_id, 0, file.name, _chunks(content), "default")
    except BaseException:  # cancelled, too: what nobody asks for is not kept
        await reception.discard(request_id)
        raise
    arrival = Arrival(
        workflow=WORKFLOW,
        channel="cli",  # and no reference of a client's: whoever types it again wants it done again
        metadata={"material_id": order.material_id, "title": order.title},
        payload={PAYLOAD_KEY: order.model_dump(mode="json")},
        review="flag",
        is_watched=False,  # whoever typed this watches it, and wants all of it
        source_component="cli",
    )
    return (await reception.submit(request_id, [upload], arrival)).request_id


async def _finished(
    application: App, request_id: UUID, working: asyncio.Task[None], told: Told, stopping: asyncio.Event
) -> None:
    query = select(Request.status, Request.error).where(Request.id == request_id)
    while True:
        if working.done():
            working.result()  # it only ends by an error before the request does
        async with application.store.reading() as session:
            status, error = (await session.execute(query)).one()
        told(status)
        if status in TERMINAL:
            break
        if stopping.is_set():
            with suppress(RequestConflictError):  # it ended a moment ago
                await reception_of(application).cancel(request_id, "cancelled by Ctrl-C")
            raise InterruptedHere
        await asyncio.sleep(_LOOK_SECONDS)
    if status != "completed":
        raise FailedError(readable_error(error or {}), remedy=str((error or {}).get("remedy", "")))


async def _documents(application: App, material_id: str) -> dict[Kind, dict[str, Any]]:
    documents = open_store(application.settings, application.store)
    try:
        return {kind: await documents.get(kind, "default", material_id) or {} for kind in Kind}
    finally:
        await documents.close()


async def _chunks(file: IO[bytes]) -> AsyncIterator[bytes]:
    while chunk := await asyncio.to_thread(file.read, _CHUNK):
        yield chunk
