"""The monitor's six axes, measured with every look: what stages, requests, people and machines did."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.alerts import machine_metrics, people_metrics, request_metrics, stage_metrics
from docproc.alerts.news import News
from docproc.alerts.samples import Sample

if TYPE_CHECKING:
    from docproc.app import App


async def measure(app: App, session: AsyncSession, since: datetime) -> list[Sample]:
    """A source (docproc.alerts.samples). It counts from its own last look on, not from `since`."""
    span = await app.shared(News).span(session)
    return [
        *(await stage_metrics.measure(app, session, span) if span else []),
        *await request_metrics.measure(app, session, span),
        *await people_metrics.measure(session, set(app.applications.task_kinds), span),
        *await machine_metrics.measure(app, session),
    ]
