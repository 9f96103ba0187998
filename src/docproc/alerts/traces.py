"""OpenTelemetry, where an operator wants it: one trace a request, sent by one process of the deployment.

The events of a request tell of every hop, in whichever process it happened, and of the time with people. So
traces are made of them, beside the watcher, and workers have nothing to do with it. What happened while no
process was on duty is not sent: traces are for looking, the events stay.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from docproc import __version__
from docproc.alerts.configuration import AlertSettings
from docproc.alerts.news import News
from docproc.alerts.news import Span as Since
from docproc.alerts.spans import Happened, Span, spans_of
from docproc.engine.store import duties, rows
from docproc.engine.store.columns import as_moment, as_uuid
from docproc.errors import ConfigurationError, DocProcError
from docproc.harmless import text_for_logs

if TYPE_CHECKING:
    from docproc.app import App

log = structlog.get_logger(__name__)

DUTY = "traces"
TERM_SECONDS = 10.0
LOOK_SECONDS = 2.0
# So many events are read at once; more of them wait for the next turn of the loop.
PAGE = 2000

Export = Callable[[Sequence[Span]], bool]

EVENTS = """
SELECT e.id, e.request_id, r.trace_id, e.kind, e.outcome, e.stage, e.unit_key, e.message_id, e.attempt,
       e.worker_id, e.started_at, e.finished_at, r.workflow_name, r.created_at, e.tenant_id,
       e.data ->> 'type' AS type, e.data ->> 'confidence' AS confidence,
       t.task_type, t.created_at AS asked_at
FROM events e JOIN requests r ON r.id = e.request_id
     LEFT JOIN backoffice_tasks t ON e.kind = 'task' AND e.outcome = 'completed' AND t.id = {task}
WHERE e.id > :first AND e.id <= :last AND r.trace_id IS NOT NULL
  AND e.kind IN ('handled', 'status', 'task', 'delivery')
ORDER BY e.id LIMIT :page
"""
_TASK = {"postgresql": "CAST(e.data ->> 'task_id' AS uuid)", "sqlite": "e.data ->> 'task_id'"}


class Traces:
    def __init__(self, app: App, export: Export) -> None:
        self.app = app
        self.export = export
        self._news = News(app)

    async def run(self) -> None:
        """Until cancelled."""
        renew_at = float("-inf")
        try:
            while True:
                try:
                    if time.monotonic() >= renew_at:
                        renew_at = await self._renewed()
                    if renew_at > time.monotonic():
                        await self.look()
                except (SQLAlchemyError, OSError, DocProcError) as error:
                    log.warning("traces_wait", error=text_for_logs(error))
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            with suppress(SQLAlchemyError, OSError, DocProcError):  # else the duty ends by its age
                async with self.app.store.claiming() as connection:
                    await duties.give_up(connection, DUTY, self.app.worker_id)

    async def _renewed(self) -> float:
        """Until when this process is the one that sends; in the past where another is."""
        async with self.app.store.claiming() as connection:
            held = await duties.hold(connection, self.app.store, DUTY, self.app.worker_id, TERM_SECONDS)
        if not held:
            self._news = News(self.app)  # whoever takes over begins with what happens then
        return time.monotonic() + TERM_SECONDS / 2 if held else float("-inf")

    async def look(self) -> None:
        """Send what happened since the look before."""
        async with self.app.store.reading() as session:
            span = await self._news.span(session)
            found = await _read(session, span) if span else []
        spans = [one for happened in found for one in spans_of(happened)]
        if spans and not await asyncio.to_thread(self.export, spans):
            log.warning("traces_not_sent", spans=len(spans))


async def _read(session: AsyncSession, since: Since) -> list[Happened]:
    statement = EVENTS.format(task=_TASK[session.get_bind().dialect.name])
    found: list[Happened] = []
    first = since.begins.event_id
    while True:
        page = await rows.execute(session, statement, first=first, last=since.ends.event_id, page=PAGE)
        found += [_happened(row) for row in page]
        if len(page) < PAGE:
            return found
        first = page[-1].id


def _happened(row: Any) -> Happened:
    return Happened(
        request_id=as_uuid(row.request_id),
        trace_id=as_uuid(row.trace_id),
        kind=row.kind,
        outcome=row.outcome or "",
        stage=row.stage or "",
        unit_key=row.unit_key or "",
        message_id=as_uuid(row.message_id) if row.message_id else None,
        attempt=row.attempt,
        worker_id=row.worker_id or "",
        started_at=as_moment(row.started_at),
        finished_at=as_moment(row.finished_at),
        workflow=row.workflow_name,
        received_at=as_moment(row.created_at),
        tenant_id=row.tenant_id,
        event_id=row.id,
        data={
            "type": row.type,
            "confidence": float(row.confidence) if row.confidence is not None else None,
        },
        task_type=row.task_type or "",
        asked_at=as_moment(row.asked_at) if row.asked_at else None,
    )


def exporter(endpoint: str) -> Export:
    """By OTLP over HTTP. Raises ConfigurationError where the extra is not installed."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import ReadableSpan
        from opentelemetry.sdk.trace.export import SpanExportResult
        from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags
    except ImportError as error:
        raise ConfigurationError(
            "DOCPROC_OTEL_ENDPOINT is set and OpenTelemetry is not installed",
            remedy="pip install 'docproc[otel]', or unset it",
        ) from error
    resource = Resource.create({"service.name": "docproc", "service.version": __version__})
    sending = OTLPSpanExporter(endpoint=endpoint, timeout=5)

    def context(trace_id: int, span_id: int) -> SpanContext:
        return SpanContext(trace_id, span_id, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))

    def readable(one: Span) -> ReadableSpan:
        return ReadableSpan(
            one.name,
            context=context(one.trace_id, one.span_id),
            parent=context(one.trace_id, one.parent_id) if one.parent_id else None,
            resource=resource,
            attributes=dict(one.attributes),
            kind=SpanKind.INTERNAL if one.parent_id else SpanKind.SERVER,
            status=Status(StatusCode.ERROR if one.has_failed else StatusCode.OK),
            start_time=_nanoseconds(one.begins),
            end_time=_nanoseconds(one.ends),
        )

    def export(spans: Sequence[Span]) -> bool:
        return sending.export([readable(one) for one in spans]) is SpanExportResult.SUCCESS

    return export


def _nanoseconds(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000) * 1000


async def trace(app: App) -> None:
    """A job beside the endpoints of an API process; returns where nobody wants traces."""
    endpoint = app.settings.section(AlertSettings).otel_endpoint
    if endpoint:
        await Traces(app, exporter(endpoint)).run()
