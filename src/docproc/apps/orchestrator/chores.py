"""Chores: what one orchestrator does for all of them. The duty `orchestrator` decides which one.

Services are probed, and sessions that ended are forgotten.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from datetime import datetime
from typing import Final

import structlog
from sqlalchemy import delete, exists, select, tuple_
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.orchestrator.resilience.probing import Prober
from docproc.apps.orchestrator.tables import Session, Task
from docproc.engine.ending import end
from docproc.engine.message import utc_now
from docproc.engine.store import duties
from docproc.engine.store.session import Store
from docproc.engine.store.tables import Request
from docproc.errors import DocProcError
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

DUTY: Final = "orchestrator"
# How long after the last sign of life of one process another takes over.
TERM_SECONDS: Final = 5.0
LOOK_SECONDS: Final = 0.5
SWEEP_SECONDS: Final = 60.0
# In one transaction; what is left is for the next turn.
MOST_SWEPT: Final = 1000


class Chores:
    """One per process: `start` it with the first call and `stop` it after the last."""

    def __init__(self, store: Store, prober: Prober, worker_id: str) -> None:
        self._store = store
        self._prober = prober
        self._worker_id = worker_id
        self._renew_at = float("-inf")
        self._swept_at = float("-inf")
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._running = asyncio.create_task(self._run(), name="chores")

    async def stop(self) -> None:
        if self._running is not None:
            await end([self._running])
        await self._prober.close()
        with suppress(SQLAlchemyError, OSError, DocProcError):  # else the duty ends by its age
            async with self._store.claiming_once() as connection:
                await duties.give_up(connection, DUTY, self._worker_id)

    async def _run(self) -> None:
        while True:
            try:
                if await self._is_on_duty():
                    await self._prober.look()
                    await self._sweep()
            except (SQLAlchemyError, OSError, DocProcError) as error:
                log.warning("chores_wait", problem=text_for_logs(error))
            except Exception:  # nobody waits for this task: a mistake in it must be seen, and end nothing
                log.exception("chores_failed")
            await asyncio.sleep(LOOK_SECONDS)

    async def _is_on_duty(self) -> bool:
        """Renewed when half of the term is over."""
        now = time.monotonic()
        if now < self._renew_at:
            return True
        async with self._store.claiming_once() as connection:
            held = await duties.hold(connection, self._store, DUTY, self._worker_id, TERM_SECONDS)
        self._renew_at = now + TERM_SECONDS / 2 if held else float("-inf")
        return held

    async def _sweep(self) -> None:
        if time.monotonic() - self._swept_at < SWEEP_SECONDS:
            return
        self._swept_at = time.monotonic()
        async with self._store.writing() as session:
            await forget_sessions(session, utc_now())


async def forget_sessions(session: AsyncSession, now: datetime) -> None:
    """Those whose time is over, unless a task of theirs still runs: its client follows it by the session."""
    runs = exists(
        select(Request.id)
        .join(Task, Task.request_id == Request.id)
        .where(
            Task.tenant_id == Session.tenant_id,
            Task.session_id == Session.session_id,
            Request.completed_at.is_(None),
        )
    )
    over = select(Session.tenant_id, Session.session_id).where(Session.expires_at < now, ~runs)
    names = [(row.tenant_id, row.session_id) for row in await session.execute(over.limit(MOST_SWEPT))]
    if not names:
        return
    # Asked again: a task may have come for one of them meanwhile.
    is_swept = tuple_(Session.tenant_id, Session.session_id).in_(names) & (Session.expires_at < now)
    await session.execute(delete(Session).where(is_swept).execution_options(synchronize_session=False))
