"""Alerts as rows: fired once, kept up to date, resolved once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Table, delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.alerts.evaluation import Fired, Key
from docproc.alerts.rules import Level
from docproc.alerts.samples import labels_of
from docproc.alerts.tables import AlertRow
from docproc.engine.store import rows

KEPT = timedelta(days=90)

_TABLE: Table = AlertRow.__table__  # type: ignore[assignment] # is a Table


class ActionState(StrEnum):
    NONE = ""
    DUE = "due"
    BEGUN = "begun"
    ENDING = "ending"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Alert:
    id: UUID
    rule: str
    metric: str
    series: str
    level: Level
    value: float
    latest: float
    threshold: float | None
    fired_at: datetime
    resolved_at: datetime | None
    action: str
    action_state: ActionState
    action_result: dict[str, Any] | None
    tenant_id: str

    @property
    def key(self) -> Key:
        return self.rule, self.series

    @property
    def labels(self) -> dict[str, str]:
        return labels_of(self.series)

    @property
    def is_open(self) -> bool:
        return self.resolved_at is None


async def fire(session: AsyncSession, fired: Fired, now: datetime) -> Alert | None:
    """None: somebody else fired it."""
    rule, sample = fired.rule, fired.sample
    row = {
        "id": uuid4(),
        "rule": rule.name,
        "metric": rule.metric,
        "series": sample.series,
        "level": str(rule.level),
        "value": float(sample.value),
        "latest": float(sample.value),
        "threshold": fired.threshold,
        "fired_at": now,
        "action": rule.action,
        "action_state": str(ActionState.DUE if rule.action else ActionState.NONE),
        "tenant_id": sample.tenant_id,
    }
    if not await rows.insert(session, _TABLE, [row], on_conflict="nothing", returning="id"):
        return None
    return await find(session, row["id"])


async def resolve(session: AsyncSession, alert: Alert, now: datetime) -> bool:
    """False: it was resolved before."""
    values: dict[str, Any] = {"resolved_at": now}
    if alert.action:
        values["action_state"] = str(ActionState.ENDING)
    done = await session.execute(
        update(_TABLE)
        .where(_TABLE.c.id == alert.id, _TABLE.c.resolved_at.is_(None))
        .values(**values)
        .returning(_TABLE.c.id)
    )
    return done.first() is not None


async def go_on(session: AsyncSession, alert: Alert, latest: float) -> None:
    await session.execute(update(_TABLE).where(_TABLE.c.id == alert.id).values(latest=float(latest)))


async def acted(session: AsyncSession, alert: Alert, state: ActionState, result: dict[str, Any]) -> None:
    """What an action did is kept beside what it did before."""
    known = {**(alert.action_result or {}), **result}
    await session.execute(
        update(_TABLE)
        .where(_TABLE.c.id == alert.id, _TABLE.c.action_state == str(alert.action_state))
        .values(action_state=str(state), action_result=known)
    )


async def find(session: AsyncSession, alert_id: Any) -> Alert:
    return _alert((await session.execute(select(_TABLE).where(_TABLE.c.id == alert_id))).one())


async def opened(session: AsyncSession) -> list[Alert]:
    """Those that fire now, the gravest first."""
    found = await session.execute(select(_TABLE).where(_TABLE.c.resolved_at.is_(None)))
    return sorted(map(_alert, found), key=lambda one: (one.level.rank, one.fired_at))


async def to_act_on(session: AsyncSession) -> list[Alert]:
    """Whose action is to be begun or ended."""
    states = [str(ActionState.DUE), str(ActionState.ENDING)]
    query = select(_TABLE).where(_TABLE.c.action_state.in_(states)).order_by(_TABLE.c.fired_at)
    return list(map(_alert, await session.execute(query)))


async def listed(
    session: AsyncSession,
    *,
    since: datetime | None = None,
    level: Level | None = None,
    tenant_id: str | None = None,
    is_open: bool = False,
    limit: int = 100,
) -> Sequence[Alert]:
    """Newest first. `tenant_id`: only those of one tenant."""
    query = select(_TABLE).order_by(_TABLE.c.fired_at.desc()).limit(limit)
    if is_open:
        query = query.where(_TABLE.c.resolved_at.is_(None))
    if since is not None:
        query = query.where(_TABLE.c.fired_at >= since)
    if level is not None:
        query = query.where(_TABLE.c.level == str(level))
    if tenant_id is not None:
        query = query.where(_TABLE.c.tenant_id == tenant_id)
    return list(map(_alert, await session.execute(query)))


async def forget(session: AsyncSession, before: datetime) -> None:
    """Of those that are over for long."""
    await session.execute(
        delete(AlertRow).where(AlertRow.resolved_at < before).execution_options(synchronize_session=False)
    )


def _alert(row: Any) -> Alert:
    return Alert(
        id=row.id,
        rule=row.rule,
        metric=row.metric,
        series=row.series,
        level=Level(row.level),
        value=row.value,
        latest=row.latest,
        threshold=row.threshold,
        fired_at=row.fired_at,
        resolved_at=row.resolved_at,
        action=row.action,
        action_state=ActionState(row.action_state),
        action_result=row.action_result,
        tenant_id=row.tenant_id,
    )
