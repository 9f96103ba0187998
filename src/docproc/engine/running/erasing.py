"""Erasing requests: rows in one transaction, then files; when somebody asks, or a workflow's time is up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from uuid import UUID

import structlog
from sqlalchemy import func, select

from docproc.engine.blobs import BlobStore
from docproc.engine.message import utc_now
from docproc.engine.store import erasure
from docproc.engine.store.erasure import EraseOwn, Erasing
from docproc.engine.store.requests import TERMINAL
from docproc.engine.store.session import Store, is_passing
from docproc.engine.store.tables import Request
from docproc.engine.workflow.definition import Retention
from docproc.engine.workflow.loader import WorkflowLoader
from docproc.errors import UnknownRequestError, WorkflowError

log = structlog.get_logger(__name__)

_PAUSE_SECONDS = 0.05
# Requests that are found in one go.
_STEP = 100
BY_RETENTION = "retention"


class Erasure:
    """Removes what a request brought and became: in the database, in the blob store, in applications."""

    def __init__(
        self,
        store: Store,
        blobs: BlobStore,
        loader: WorkflowLoader,
        erasers: Callable[[], Sequence[EraseOwn]],
    ) -> None:
        """`erasers` of applications are asked for when something is erased: few processes ever do."""
        self.store = store
        self.blobs = blobs
        self.loader = loader
        self.erasers = erasers

    async def erase(self, request_id: UUID, by: str) -> None:
        """Whatever its state: one under way is cancelled first. Raises UnknownRequestError."""
        async with self.store.reading() as session:
            name = await session.scalar(select(Request.workflow_name).where(Request.id == request_id))
        if name is None or not await self._erase(request_id, by, self._retention(name)):
            raise UnknownRequestError(f"there is no request {request_id}", remedy="Check the id")
        await self.store.forget_deleted()
        log.info("request_erased", request_id=str(request_id), by=by)

    async def sweep(self) -> int:
        """What workflows say of content and audit, carried out; returns how many requests were erased."""
        erased = 0
        for name in self.loader.names():
            retention = self._retention(name)
            while retention is not None and retention.content_days is not None:
                found = await self._expired(name, retention.content_days)
                for request_id in found:
                    erased += await self._erase(request_id, BY_RETENTION, retention)
                if len(found) < _STEP:
                    break
        async with self.store.writing() as session:
            ended = await erasure.end_audits(session)
        if erased or ended:
            await self.store.forget_deleted()
            log.info("retention_carried_out", requests=erased, audits=ended)
        return erased

    async def _erase(self, request_id: UUID, by: str, retention: Retention | None) -> bool:
        """Rows first: what is left when a process dies in between are files of nobody, which are swept."""
        days = retention.audit_days if retention else None
        until = utc_now() + timedelta(days=days) if days is not None else None
        while True:
            try:
                async with self.store.writing() as session:
                    found = await erasure.erase(session, Erasing(request_id, by, until), self.erasers())
                break
            except Exception as error:
                if not is_passing(error):  # a deadlock with a worker: it is done, try again
                    raise
            await asyncio.sleep(_PAUSE_SECONDS)
        if found:
            await self.blobs.delete(str(request_id))
        return found

    async def _expired(self, workflow: str, days: float) -> Sequence[UUID]:
        ended = func.coalesce(Request.amended_at, Request.completed_at, Request.breached_at)
        query = (
            select(Request.id)
            .where(Request.workflow_name == workflow, Request.status.in_(TERMINAL))
            .where(ended < utc_now() - timedelta(days=days))
            .limit(_STEP)
        )
        async with self.store.reading() as session:
            return list(await session.scalars(query))

    def _retention(self, workflow: str) -> Retention | None:
        """As the file says today: a promise to keep less holds for what is there already."""
        try:
            return self.loader.load(workflow).retention
        except WorkflowError:  # it is gone or broken, which others say
            return None
