"""Erasing requests: rows in one transaction, then files; when somebody asks, or a workflow's time is up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import structlog
from sqlalchemy import ColumnElement, delete, func, select

from docproc.engine.blobs import BlobStore
from docproc.engine.message import utc_now
from docproc.engine.running import quotas
from docproc.engine.running.quotas import CountUnits
from docproc.engine.store import erasure, tenants
from docproc.engine.store.erasure import EraseOwn
from docproc.engine.store.promotion_tables import GoldenCase, golden_owner
from docproc.engine.store.requests import TERMINAL
from docproc.engine.store.session import Store, is_passing
from docproc.engine.store.tables import Request
from docproc.engine.workflow.definition import Retention
from docproc.engine.workflow.loader import WorkflowLoader
from docproc.engine.workflow.tenants import Tenants
from docproc.errors import UnknownRequestError, WorkflowError

log = structlog.get_logger(__name__)

_PAUSE_SECONDS = 0.05
# Requests that are found in one go.
_STEP = 100
BY_RETENTION = "retention"


@dataclass(frozen=True, slots=True)
class Erasing:
    """What applications do about their own; asked for when something is erased: few processes ever do."""

    erasers: Callable[[], Sequence[EraseOwn]]
    units: Callable[[], Sequence[CountUnits]] = tuple


class Erasure:
    """Removes what a request brought and became: in the database, in the blob store, in applications."""

    def __init__(
        self, store: Store, blobs: BlobStore, loader: WorkflowLoader, tenants: Tenants, own: Erasing
    ) -> None:
        self.store = store
        self.blobs = blobs
        self.loader = loader
        self.tenants = tenants
        self.own = own

    async def erase(self, request_id: UUID, by: str) -> None:
        """Whatever its state: one under way is cancelled first. Raises UnknownRequestError."""
        query = select(Request.tenant_id, Request.workflow_name).where(Request.id == request_id)
        async with self.store.reading() as session:
            found = (await session.execute(query)).first()
        await self._erase_cases(request_id)
        if found is None or not await self._erase(
            request_id, by, await self._retention(found.tenant_id, found.workflow_name)
        ):
            raise UnknownRequestError(f"there is no request {request_id}", remedy="Check the id")
        await self.store.forget_deleted()
        log.info("request_erased", request_id=str(request_id), by=by)

    async def _erase_cases(self, request_id: UUID) -> None:
        """Golden cases that were made from it hold the same files and values. Where only its time is over
        (`sweep`) they stay: somebody chose to keep them."""
        async with self.store.writing() as session:
            cases = delete(GoldenCase).where(GoldenCase.request_id == request_id).returning(GoldenCase.id)
            gone = list(await session.scalars(cases))
        for case_id in gone:
            await self.blobs.delete(golden_owner(case_id))

    async def sweep(self) -> int:
        """What workflows and tenants say of content and audit, carried out; returns how many requests were
        erased."""
        async with self.store.reading() as session:
            names = await tenants.names(session)
        erased = 0
        for tenant_id in names:
            own = (await self.tenants.of(tenant_id)).settings.retention
            if own is not None:  # whatever its workflows say, also of those whose files are gone
                erased += await self._erase_expired(own, Request.tenant_id == tenant_id)
                continue
            for name in self.loader.of(tenant_id).names():
                mine = (Request.tenant_id == tenant_id, Request.workflow_name == name)
                erased += await self._erase_expired(await self._retention(tenant_id, name), *mine)
        async with self.store.writing() as session:
            ended = await erasure.end_audits(session)
            await tenants.forget_usage(session, utc_now() - timedelta(days=2))
        if erased or ended:
            await self.store.forget_deleted()
            log.info("retention_carried_out", requests=erased, audits=ended)
        return erased

    async def _erase_expired(self, retention: Retention | None, *whose: ColumnElement[bool]) -> int:
        if retention is None or retention.content_days is None:
            return 0
        erased = 0
        while True:
            found = await self._expired(retention.content_days, *whose)
            for request_id in found:
                erased += await self._erase(request_id, BY_RETENTION, retention)
            if len(found) < _STEP:
                return erased

    async def _erase(self, request_id: UUID, by: str, retention: Retention | None) -> bool:
        """Rows first: what is left when a process dies in between are files of nobody, which are swept."""
        days = retention.audit_days if retention else None
        until = utc_now() + timedelta(days=days) if days is not None else None
        while True:
            try:
                found = await self._erase_rows(erasure.Erasing(request_id, by, until))
                break
            except Exception as error:
                if not is_passing(error):  # a deadlock with a worker: it is done, try again
                    raise
            await asyncio.sleep(_PAUSE_SECONDS)
        if found:
            await self.blobs.delete(str(request_id))
        return found

    async def _erase_rows(self, erasing: erasure.Erasing) -> bool:
        request_id, units = erasing.request_id, self.own.units()
        async with self.store.writing() as session:
            if units:
                whose = await session.scalar(select(Request.tenant_id).where(Request.id == request_id))
                if whose is not None:
                    await quotas.keep_count(session, whose, request_id, units, utc_now())
            return await erasure.erase(session, erasing, self.own.erasers())

    async def _expired(self, days: float, *whose: ColumnElement[bool]) -> Sequence[UUID]:
        ended = func.coalesce(Request.amended_at, Request.completed_at, Request.breached_at)
        query = (
            select(Request.id)
            .where(*whose, Request.status.in_(TERMINAL))
            .where(ended < utc_now() - timedelta(days=days))
            .limit(_STEP)
        )
        async with self.store.reading() as session:
            return list(await session.scalars(query))

    async def _retention(self, tenant_id: str, workflow: str) -> Retention | None:
        """As the file says today: a promise to keep less holds for what is there already."""
        own = (await self.tenants.of(tenant_id)).settings.retention
        if own is not None:
            return own
        try:
            return self.loader.of(tenant_id).load(workflow).retention
        except WorkflowError:  # it is gone or broken, which others say
            return None
