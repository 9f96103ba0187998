"""What somebody set for all replicas: the least degradation level."""

from __future__ import annotations

import time

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.orchestrator.resilience.degradation import Degradation
from docproc.apps.orchestrator.resilience.tables import Mode
from docproc.engine.message import utc_now
from docproc.engine.store import rows
from docproc.engine.store.session import Store

DEGRADATION = "degradation"
LOOK_SECONDS = 1.0

SET = """
INSERT INTO orchestrator_modes (name, value, reason, updated_at) VALUES (:name, :value, :reason, :now)
ON CONFLICT (name) DO UPDATE SET
    value = excluded.value, reason = excluded.reason, updated_at = excluded.updated_at
"""


class Modes:
    """As of the last second."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._level = Degradation.FULL
        self._looked_at = float("-inf")

    async def degradation(self) -> Degradation:
        if time.monotonic() - self._looked_at >= LOOK_SECONDS:
            self._looked_at = time.monotonic()
            async with self.store.reading() as session:
                self._level = await degradation(session)
        return self._level


async def degradation(session: AsyncSession) -> Degradation:
    found = await session.scalar(select(Mode.value).where(Mode.name == DEGRADATION))
    return Degradation(found) if found else Degradation.FULL


async def set_degradation(session: AsyncSession, level: Degradation, reason: str) -> None:
    """`full` leaves it to the state of the services."""
    if level is Degradation.FULL:
        statement = delete(Mode).where(Mode.name == DEGRADATION)
        await session.execute(statement.execution_options(synchronize_session=False))
        return
    await rows.execute(session, SET, name=DEGRADATION, value=str(level), reason=reason, now=utc_now())
