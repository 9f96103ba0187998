"""Notices: who is told of an alert, when, and that they are told at least once.

They are rows, written with the alert they tell of, so a crash or a mail server that is away delays them.

| level | channels | when |
|---|---|---|
| critical | text message, mail, webhook | at once |
| high | mail, webhook | at once |
| medium | mail, webhook | mail gathers for 15 minutes |
| low | mail | the day's summary |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Table, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.alerts import store
from docproc.alerts.configuration import AlertSettings
from docproc.alerts.rules import Level
from docproc.alerts.store import Alert
from docproc.alerts.tables import NoticeRow
from docproc.engine.store import rows

WEBHOOK, MAIL, SMS = "webhook", "mail", "sms"
FIRED, RESOLVED = "fired", "resolved"
# After so many attempts, about a day's worth, nobody tries any more.
ATTEMPTS = 20
_FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS = 5.0, 3600.0

_TABLE: Table = NoticeRow.__table__  # type: ignore[assignment] # is a Table
_CHANNELS = {
    Level.CRITICAL: (SMS, MAIL, WEBHOOK),
    Level.HIGH: (MAIL, WEBHOOK),
    Level.MEDIUM: (MAIL, WEBHOOK),
    Level.LOW: (MAIL,),
}


@dataclass(frozen=True, slots=True)
class Told:
    """An alert, and what is told of it."""

    notice_id: UUID
    kind: str
    alert: Alert


@dataclass(frozen=True, slots=True)
class Batch:
    """What one message to people tells: one alert, or all that were gathered."""

    channel: str
    level: Level
    told: Sequence[Told]
    attempts: int

    @property
    def id(self) -> UUID:
        """The same when it is sent again: receivers can drop it."""
        return self.told[0].notice_id


def channels_in_use(settings: AlertSettings) -> set[str]:
    found = set()
    if settings.alert_webhook_url:
        found.add(WEBHOOK)
    if settings.alert_mail_to and settings.alert_smtp_url:
        found.add(MAIL)
    if settings.alert_sms_url and settings.alert_sms_to:
        found.add(SMS)
    return found


async def write(
    session: AsyncSession, alert: Alert, kind: str, settings: AlertSettings, now: datetime
) -> None:
    """In the alert's transaction. A text message tells that something broke, not that it is over."""
    wanted = [one for one in _CHANNELS[alert.level] if one in channels_in_use(settings)]
    if kind == RESOLVED:
        wanted = [one for one in wanted if one != SMS and alert.level is not Level.LOW]
    for channel in wanted:
        row = {
            "id": uuid4(),
            "alert_id": alert.id,
            "channel": channel,
            "kind": kind,
            "level": str(alert.level),
            "due_at": await _due(session, alert.level, channel, settings, now),
            "created_at": now,
            "tenant_id": alert.tenant_id,
        }
        await rows.insert(session, _TABLE, [row])


async def _due(
    session: AsyncSession, level: Level, channel: str, settings: AlertSettings, now: datetime
) -> datetime:
    if channel != MAIL or level in (Level.CRITICAL, Level.HIGH):
        return now
    if level is Level.LOW:
        summary = now.replace(hour=settings.alert_summary_hour, minute=0, second=0, microsecond=0)
        return summary if summary > now else summary + timedelta(days=1)
    # With those that wait already: one mail for all that happens within the time.
    query = select(func.min(_TABLE.c.due_at)).where(
        _TABLE.c.state == "waiting", _TABLE.c.channel == MAIL, _TABLE.c.level == str(level)
    )
    waiting: datetime | None = await session.scalar(query)
    return max(now, waiting) if waiting else now + timedelta(minutes=settings.alert_gather_minutes)


async def due(session: AsyncSession, now: datetime) -> list[Batch]:
    """What is to be sent now. Mails of the levels that gather go out as one."""
    query = (
        select(_TABLE)
        .where(_TABLE.c.state == "waiting", _TABLE.c.due_at <= now)
        .order_by(_TABLE.c.channel, _TABLE.c.level, _TABLE.c.created_at, _TABLE.c.id)
        .limit(500)
    )
    found = list(await session.execute(query))
    alerts = {one.alert_id: await store.find(session, one.alert_id) for one in found}
    batches = []
    for _, group in groupby(found, key=_together):
        rows_of = list(group)
        told = [Told(row.id, row.kind, alerts[row.alert_id]) for row in rows_of]
        most = max(row.attempts for row in rows_of)
        batches.append(Batch(rows_of[0].channel, Level(rows_of[0].level), told, most))
    return batches


def _together(row: Any) -> tuple[Any, ...]:
    gathers = row.channel == MAIL and row.level in (Level.MEDIUM, Level.LOW)
    return (row.channel, row.level) if gathers else (row.id,)


async def sent(session: AsyncSession, batch: Batch, now: datetime) -> None:
    await _change(session, batch, state="sent", sent_at=now, attempts=batch.attempts + 1, error=None)


async def failed(session: AsyncSession, batch: Batch, error: str, now: datetime) -> bool:
    """Tried again after a while; False: not any more."""
    attempts = batch.attempts + 1
    is_over = attempts >= ATTEMPTS
    wait = min(_FIRST_WAIT_SECONDS * 2**batch.attempts, _LONGEST_WAIT_SECONDS)
    await _change(
        session,
        batch,
        state="given_up" if is_over else "waiting",
        attempts=attempts,
        error=error[:500],
        due_at=now + timedelta(seconds=wait),
    )
    return not is_over


async def _change(session: AsyncSession, batch: Batch, **values: Any) -> None:
    ids = [one.notice_id for one in batch.told]
    await session.execute(update(_TABLE).where(_TABLE.c.id.in_(ids)).values(**values))
