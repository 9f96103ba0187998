"""What models may cost and how often they may be asked: counted in the database, for all workers together."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.materials.errors import MaterialError, RateLimitedError
from docproc.apps.materials.settings import MaterialsSettings
from docproc.apps.materials.tables import MaterialAnswer
from docproc.engine.message import utc_now

_MILLION = 1_000_000
_MINUTE = timedelta(minutes=1)


class Budget:
    """Asked before each call. A call under way counts as asked; its price is known when it has answered, so
    one call of each worker may go beyond."""

    def __init__(self, settings: MaterialsSettings, now: Callable[[], datetime] = utc_now) -> None:
        self.settings = settings
        self.now = now

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """In US dollars, by the prices that are set."""
        paid = prompt_tokens * self.settings.materials_usd_per_million_input
        return (paid + completion_tokens * self.settings.materials_usd_per_million_output) / _MILLION

    async def check(self, session: AsyncSession, request_id: UUID) -> None:
        """Raises MaterialError (`budget`) where this material has cost enough, RateLimitedError until the
        day,
        or the minute, is over: neither counts as an attempt."""
        now = self.now()
        today = now.replace(hour=0, minute=0, second=0, microsecond=0)
        spent_today, spent_here, recent, oldest = await self._look(session, request_id, today, now - _MINUTE)
        most_here, most_today = self.settings.materials_usd_per_material, self.settings.materials_usd_per_day
        if most_here and spent_here >= most_here:
            raise MaterialError(
                f"this material has cost {spent_here:.2f} USD, and {most_here:.2f} USD are allowed",
                code="budget",
                remedy="Raise DOCPROC_MATERIALS_USD_PER_MATERIAL, then replay it",
            )
        if most_today and spent_today >= most_today:
            wait = (today + timedelta(days=1) - now).total_seconds()
            raise RateLimitedError(
                f"the budget of the day ({most_today:.2f} USD) is spent",
                delay=wait,
                remedy="It goes on tomorrow (UTC); raise DOCPROC_MATERIALS_USD_PER_DAY to go on earlier",
            )
        if recent >= self.settings.materials_calls_per_minute and oldest is not None:
            wait = max(0.1, (oldest + _MINUTE - now).total_seconds())
            raise RateLimitedError(f"{recent} calls were made in the last minute", delay=wait)

    async def _look(
        self, session: AsyncSession, request_id: UUID, today: datetime, since: datetime
    ) -> tuple[float, float, int, datetime | None]:
        total = select(func.sum(MaterialAnswer.cost_usd))
        asked = select(func.count(), func.min(MaterialAnswer.asked_at)).where(
            MaterialAnswer.asked_at >= since
        )
        query = asked.add_columns(
            total.where(MaterialAnswer.asked_at >= today).scalar_subquery(),
            total.where(MaterialAnswer.request_id == request_id).scalar_subquery(),
        )
        recent, oldest, spent_today, spent_here = (await session.execute(query)).one()
        return float(spent_today or 0), float(spent_here or 0), int(recent), oldest
