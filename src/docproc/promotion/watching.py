"""Watching what was promoted: it goes back by itself when it fails or is corrected more often than before."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import structlog
from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.app import App
from docproc.engine.store import duties, environments
from docproc.engine.store.environments import Environment
from docproc.engine.store.promotion_tables import Promotion
from docproc.engine.store.tables import Event, Request
from docproc.errors import DocProcError
from docproc.harmless import text_for_logs
from docproc.promotion.deciding import Rate, has_left
from docproc.promotion.promoting import roll_back

log = structlog.get_logger(__name__)

DUTY = "promotion"
LOOK_SECONDS = 30.0
# Longer than a look takes: nobody else begins one meanwhile.
TERM_SECONDS = 90.0
# Of each version, the newest.
MOST_REQUESTS = 5000


async def watch(app: App) -> None:
    """A job beside the endpoints of an API process; one of them all does it. Nothing to do in development."""
    environment = Environment(app.settings.environment)
    if environment is Environment.DEVELOPMENT:
        return
    while True:
        with suppress(SQLAlchemyError, OSError, DocProcError):  # the database is away: next time
            async with app.store.claiming() as connection:
                is_ours = await duties.hold(connection, app.store, DUTY, app.worker_id, TERM_SECONDS)
            if is_ours:
                await look(app, environment)
        await asyncio.sleep(LOOK_SECONDS)


async def look(app: App, environment: Environment) -> list[str]:
    """Put back every workflow whose rates left their interval; returns their names."""
    async with app.store.reading() as session:
        found = await environments.history(session, environment, limit=1000)
    newest: dict[str, Promotion] = {}
    for one in found:
        newest.setdefault(one.workflow_name, one)
    gone_back = []
    for name, promotion in newest.items():
        if promotion.kind != "promoted" or promotion.previous_version is None:
            continue  # what was put back is not put back again
        async with app.store.reading() as session:
            problem = await _worse(session, name, promotion.previous_version, promotion.version)
        if problem:
            log.error("workflow_rolled_back", workflow=name, version=promotion.version, **problem)
            try:
                await roll_back(app, name, environment, by="docproc", reason=problem)
            except DocProcError as error:
                log.warning("rollback_failed", workflow=name, error=text_for_logs(error))
                continue
            gone_back.append(name)
    return gone_back


async def _worse(session: AsyncSession, name: str, before: str, after: str) -> dict[str, object] | None:
    old, new = await rates(session, name, before), await rates(session, name, after)
    for rate in old:
        if has_left(old[rate], new[rate]):
            low, high = old[rate].interval()
            return {
                "rate": rate,
                "share": round(new[rate].share, 4),
                "before": round(old[rate].share, 4),
                "interval": [round(low, 4), round(high, 4)],
                "requests": new[rate].requests,
            }
    return None


async def rates(session: AsyncSession, name: str, version: str) -> dict[str, Rate]:
    """Of a version's finished requests: how many failed, and how many a person corrected."""
    recent = (
        select(Request.id, Request.status)
        .where(
            Request.workflow_name == name,
            Request.workflow_version == version,
            Request.completed_at.is_not(None),
        )
        .order_by(Request.created_at.desc())
        .limit(MOST_REQUESTS)
        .subquery()
    )
    count = await session.scalar(select(func.count()).select_from(recent)) or 0
    failed = (
        await session.scalar(select(func.count()).select_from(recent).where(recent.c.status == "failed")) or 0
    )
    corrected = select(func.count(func.distinct(Event.request_id))).where(
        Event.request_id.in_(select(recent.c.id)), Event.kind == "correction"
    )
    overridden = await session.scalar(corrected) or 0
    return {"failures": Rate(failed, count), "overrides": Rate(overridden, count)}
