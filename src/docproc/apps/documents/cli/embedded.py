"""Documents processed here and now: an App on SQLite, its workers in this process, heavy work in children."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Any
from uuid import UUID

from sqlalchemy import case, exists, func, or_, select
from sqlalchemy.engine import Row

from docproc.app import App, open_database
from docproc.apps.documents.cli.sources import Batch
from docproc.apps.documents.cli.view import view
from docproc.apps.documents.tables import REQUESTS, Document, DocumentStatus, Page, PageStatus
from docproc.engine.store.requests import TERMINAL
from docproc.engine.store.tables import Message, Request
from docproc.errors import RequestConflictError
from docproc.http.reception import DEFAULT_WORKFLOW, Accepted, Arrival, reception_of
from docproc.http.views import shapes_of, statuses_of
from docproc.settings import Settings
from docproc.terminal.output import load_settings
from docproc.terminal.progress import Progress
from docproc.terminal.view import TerminalViews

CHUNK = 1 << 20
LOOK_SECONDS = 0.05
ROUTER = "workflow_router"
# Nobody waits for what is cut off here: it was cancelled, or belongs to another command's request.
SHUTDOWN_SECONDS = 1.0


def embedded_settings(home: Path | None = None) -> Settings:
    """The settings of one command that does all by itself, whatever servers the environment names."""
    overrides: dict[str, Any] = {
        "rabbitmq_url": None,
        "redis_url": None,
        "transport": "sql",
        "storage_url": None,
        "warm_up": False,  # models are loaded by the first page that needs them, if one does
        "review": "flag",  # nobody can be asked here
        "shutdown_seconds": SHUTDOWN_SECONDS,
    }
    if home is not None:
        home = home.expanduser().absolute()
        overrides |= {"home": home, "storage_path": home / "storage", "database_url": None}
    elif not Settings.load().is_embedded:
        overrides["database_url"] = None
    settings = load_settings(**overrides)
    if "prefetch_count" in settings.model_fields_set:
        return settings
    return settings.model_copy(update={"prefetch_count": settings.processes})


class Embedded:
    """Requests of this process: submitted, looked at, cancelled."""

    def __init__(self, application: App, working: asyncio.Task[None]) -> None:
        self.application = application
        self._working = working

    async def submit(self, batch: Batch, arrival: Arrival) -> Accepted:
        """Store the files and submit one request for them; raises what Reception raises."""
        reception = reception_of(self.application)
        request_id = reception.new_request_id()
        uploads = []
        try:
            for index, source in enumerate(batch.sources):
                with await asyncio.to_thread(source.open) as file:
                    upload = await reception.store_file(
                        request_id, index, source.name, _chunks(file), arrival.tenant_id
                    )
                uploads.append(upload)
        except BaseException:  # cancelled, too: what nobody asks for is not kept
            await reception.discard(request_id)
            raise
        return await reception.submit(request_id, uploads, arrival)

    async def finish(self, batch: Batch, arrival: Arrival) -> UUID:
        """Submit one request and wait until it goes on no more; its id."""
        accepted = await self.submit(batch, arrival)
        while not await self.find({accepted.request_id}):  # noqa: ASYNC110 # the database tells nobody
            await asyncio.sleep(LOOK_SECONDS)
        return accepted.request_id

    async def find(self, ids: Collection[UUID]) -> dict[UUID, dict[str, Any]]:
        """What the API would say of those that will not go on by themselves: over, or waiting for people."""
        if self._working.done():
            self._working.result()  # it only ends by an error while requests are looked at
        waits = exists().where(Message.request_id == Request.id)
        query = select(Request).where(Request.id.in_(ids), or_(Request.status.in_(TERMINAL), ~waits))
        async with self.application.store.reading() as session:
            requests = list(await session.scalars(query))
            return await statuses_of(shapes_of(self.application), session, requests)

    async def progress(self, names: Mapping[UUID, str]) -> list[Progress]:
        """How far these requests are, in their order."""
        async with self.application.store.reading() as session:
            requests = {row.id: row for row in await session.execute(_requests(names))}
            pages = {row.request_id: row for row in await session.execute(_pages(names))}
            documents = {row.request_id: row for row in await session.execute(_documents(names))}
        return [
            _progress(names[key], requests[key], pages.get(key), documents.get(key))
            for key in names
            if key in requests
        ]

    async def cancel(self, ids: Collection[UUID]) -> None:
        for request_id in ids:
            with contextlib.suppress(RequestConflictError):  # it ended a moment ago
                await reception_of(self.application).cancel(request_id, "cancelled by Ctrl-C")


@asynccontextmanager
async def opened(settings: Settings, arrival: Arrival) -> AsyncIterator[Embedded]:
    """Workers for the workflow (for all that the router may choose, without one) until the block ends."""
    async with open_database(settings) as application:
        worker = application.worker(_components(application, arrival))
        stopping = asyncio.Event()
        working = asyncio.create_task(worker.run(stopping))
        try:
            yield Embedded(application, working)
        finally:
            stopping.set()
            await asyncio.gather(working, return_exceptions=True)


def _components(application: App, arrival: Arrival) -> list[str]:
    """Only what the flows name: others may need models, services or time they have no use for."""
    loader = application.loader.of(arrival.tenant_id)
    flows = [loader.load(arrival.workflow or DEFAULT_WORKFLOW)]
    if arrival.workflow is None:
        flows += [flow for flow in loader.usable() if flow.accepts is not None]
    return sorted({ROUTER, *(stage.component for flow in flows for stage in flow.stages)})


async def _chunks(file: IO[bytes]) -> AsyncIterator[bytes]:
    while chunk := await asyncio.to_thread(file.read, CHUNK):
        yield chunk


def _requests(ids: Collection[UUID]) -> Any:
    columns = (Request.id, Request.status, Request.deadline_utc, REQUESTS.c.page_count)
    return select(*columns).where(Request.id.in_(ids))


def _pages(ids: Collection[UUID]) -> Any:
    read = Page.status != PageStatus.PENDING_OCR
    # A flow may group pages without classifying them.
    classified = or_(Page.status == PageStatus.CLASSIFIED, Page.document_id.is_not(None))
    return (
        select(Page.request_id, _number_of(read).label("read"), _number_of(classified).label("classified"))
        .where(Page.request_id.in_(ids))
        .group_by(Page.request_id)
    )


def _documents(ids: Collection[UUID]) -> Any:
    done = Document.status == DocumentStatus.COMPLETED
    return (
        select(Document.request_id, func.count().label("total"), _number_of(done).label("done"))
        .where(Document.request_id.in_(ids))
        .group_by(Document.request_id)
    )


def _number_of(condition: Any) -> Any:
    return func.sum(case((condition, 1), else_=0))


def _progress(name: str, request: Row[Any], pages: Row[Any] | None, documents: Row[Any] | None) -> Progress:
    counts = {
        "pages_total": request.page_count,
        "pages_read": pages.read if pages else None,
        "pages_classified": pages.classified if pages else None,
        "documents_total": documents.total if documents else None,
        "documents_done": documents.done if documents else None,
    }
    share, said = TerminalViews([view]).progress(counts)
    return Progress(name, request.status, request.deadline_utc, share, said)
