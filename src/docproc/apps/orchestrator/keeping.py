"""Keeps the keys in Redis as the database says: sessions follow their tasks, what happens to
tasks is told, what expired is listed, and after a flush everything is put back.

One process of all does it, whoever has the key `orchestrator:keeper`; another goes on when it is gone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from typing import Any, Final

import structlog
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.orchestrator.accepting import TOUCH_SECONDS
from docproc.apps.orchestrator.http.tail import Tail
from docproc.apps.orchestrator.http.telling import type_of
from docproc.apps.orchestrator.redis_keys import RedisKeys
from docproc.apps.orchestrator.tables import Session, Task, TenantSettings
from docproc.engine.ending import end
from docproc.engine.message import utc_now
from docproc.engine.store.session import Store, is_passing
from docproc.engine.store.tables import Request
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

LOOK_SECONDS: Final = 0.2
# Who has not renewed it for so long has lost it.
LEASE_SECONDS: Final = 3
# Of a session, the latest.
MOST_TASKS: Final = 50
# After a flush, the latest used.
MOST_SESSIONS: Final = 10_000
EXPIRED: Final = "expired"

# Tenant and session.
Name = tuple[str, str]


class Keeper:
    """One per process; it does nothing while another process does it."""

    def __init__(self, store: Store, keys: RedisKeys, name: str) -> None:
        self._store = store
        self._keys = keys
        self._name = name
        self._tail: Tail | None = None
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._running = asyncio.create_task(self._run(), name="keys in Redis")

    async def stop(self) -> None:
        if self._running is not None:
            await end([self._running])
        await self._keys.release(self._name)
        await self._keys.close()

    async def _run(self) -> None:
        while True:
            try:
                await self._look()
            except (SQLAlchemyError, OSError) as error:
                if isinstance(error, SQLAlchemyError) and not is_passing(error):
                    log.exception("keys_not_kept")
                else:
                    log.warning("keys_wait", problem=text_for_logs(error))
                self._tail = None
            await asyncio.sleep(LOOK_SECONDS if self._tail is not None else 1.0)

    async def _look(self) -> None:
        """What happened since the last look. Who becomes the keeper, or finds it empty, writes all anew."""
        held = await self._keys.hold(self._name, LEASE_SECONDS)
        if not held:
            self._tail = None
            return
        if self._tail is None or held == "anew":
            self._tail = Tail(self._store, kind="status")
            async with self._store.reading() as session:
                await self._tail.begin(session)
                await self._rebuild(session)
            return
        async with self._store.reading() as session:
            found = await self._tail.read(session)
            touched = {(row.tenant_id, row.session_id) for row in found}
            sessions = await _sessions(session, touched)
            expired = await _expired(session, [row.request_id for row in found if _is_failure(row)])
        for tenant_id, session_id, state, seconds in sessions:
            await self._keys.put_session(tenant_id, session_id, state, seconds)
        await self._keys.notify_all([(type_of(row), _told(row)) for row in found])
        for task in expired:
            await self._keys.drop(task.tenant_id, task.envelope, EXPIRED)

    async def _rebuild(self, session: AsyncSession) -> None:
        query = select(Session).where(Session.expires_at > utc_now())
        rows = list(await session.scalars(query.order_by(Session.expires_at.desc()).limit(MOST_SESSIONS)))
        sessions = await _sessions(session, {(row.tenant_id, row.session_id) for row in rows})
        ends = {(row.tenant_id, row.session_id): row.expires_at for row in rows}
        await self._keys.rebuild(
            [(tenant, name, state, ends[tenant, name]) for tenant, name, state, _ in sessions],
            await _configs(session),
        )
        if sessions:
            log.info("keys_rebuilt", sessions=len(sessions))


def _told(row: Any) -> dict[str, Any]:
    return {"task_id": str(row.request_id), "tenant_id": row.tenant_id, "at": row.finished_at}


def _is_failure(row: Any) -> bool:
    return bool(row.outcome == "failed")


async def _expired(session: AsyncSession, request_ids: Collection[Any]) -> list[Task]:
    """Of tasks that failed, those whose time was over."""
    if not request_ids:
        return []
    query = select(Task, Request.error).join(Request, Request.id == Task.request_id)
    found = await session.execute(query.where(Task.request_id.in_(set(request_ids))))
    return [task for task, error in found if _code(error) == EXPIRED]


def _code(error: Any) -> str | None:
    return error.get("code") if isinstance(error, dict) else None


async def _sessions(
    session: AsyncSession, names: Collection[Name]
) -> list[tuple[str, str, dict[str, Any], int]]:
    """Sessions with their latest tasks, and how long each has left in seconds."""
    now = utc_now()
    found = []
    for tenant_id, session_id in sorted(names):
        row = await session.get(Session, (tenant_id, session_id))
        if row is None or row.expires_at <= now:
            continue
        query = (
            select(Request.id, Request.status, Request.completed_at)
            .join(Task, Task.request_id == Request.id)
            .where(Task.tenant_id == tenant_id, Task.session_id == session_id)
            .order_by(Task.created_at.desc())
            .limit(MOST_TASKS)
        )
        state = {
            "session_id": session_id,
            "tenant_id": tenant_id,
            "context": row.context or {},
            "tasks": _tasks(await session.execute(query)),
            "created_at": row.created_at,
            "expires_at": row.expires_at,
        }
        left = int((row.expires_at - now).total_seconds() - TOUCH_SECONDS)
        found.append((tenant_id, session_id, state, max(1, left)))
    return found


def _tasks(rows: Iterable[Any]) -> dict[str, str]:
    return {str(row.id): str(row.status) for row in rows}


async def _configs(session: AsyncSession) -> dict[str, dict[str, Any]]:
    return {row.tenant_id: row.config for row in await session.scalars(select(TenantSettings))}
