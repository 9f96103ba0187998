"""The metrics of calls (§8.1), measured over all replicas: the source of the orchestrator's alerts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.alerts.engine_metrics import ERROR_RATE, PROCESSING_TIME, QUEUE_DEPTH, SECONDS, THROUGHPUT
from docproc.alerts.samples import Sample
from docproc.app import App
from docproc.apps.orchestrator.resilience.breaker import BreakerState, is_idle
from docproc.apps.orchestrator.resilience.breakers import Known, away, known_of
from docproc.apps.orchestrator.resilience.tables import BreakerRow, CallStatistics
from docproc.apps.orchestrator.services.catalogue import catalogue_of
from docproc.apps.orchestrator.tables import Call, CallState
from docproc.engine.message import utc_now

APPLICATION = "orchestrator"
AVAILABILITY = "service.availability"
LATENCY = "service.latency"
BREAKER = "circuit_breaker.state"
RETRIES = "retry.count"

# As numbers, so that a threshold can tell them apart.
STATES = {BreakerState.CLOSED: 0.0, BreakerState.HALF_OPEN: 0.5, BreakerState.OPEN: 1.0}


async def measure(app: App, session: AsyncSession, since: datetime) -> list[Sample]:
    catalogue = catalogue_of(app.settings)
    waiting = select(Call.queue, func.count()).where(Call.state == CallState.OPEN).group_by(Call.queue)
    depths = {one.queue: 0 for one in catalogue.services.values()}
    depths |= {row[0]: row[1] for row in await session.execute(waiting)}
    minute = since.replace(second=0, microsecond=0)
    calls = list(await session.scalars(select(CallStatistics).where(CallStatistics.minute >= minute)))
    breakers = [known_of(row) for row in await session.scalars(select(BreakerRow))]
    now = utc_now()
    return [
        *(Sample(QUEUE_DEPTH, number, _queue(queue)) for queue, number in depths.items()),
        *_of_breakers(breakers, now),
        *_of_services(calls, {one.service for one in away(breakers, now)}, catalogue.services),
        *_of_types(calls),
        *_of_queues(calls, {one.name: one.queue for one in catalogue.services.values()}),
    ]


def _queue(queue: str) -> dict[str, str]:
    return {"application": APPLICATION, "queue": queue}


def _of_breakers(breakers: Iterable[Known], now: datetime) -> Iterator[Sample]:
    for one in breakers:
        state = BreakerState.HALF_OPEN if is_idle(one.breaker, now) else one.breaker.state
        yield Sample(BREAKER, STATES[state], {"service": one.service, "endpoint": one.endpoint})


def _of_services(calls: Iterable[CallStatistics], gone: set[str], known: Iterable[str]) -> Iterator[Sample]:
    groups: defaultdict[str, list[CallStatistics]] = defaultdict(list)
    for service in (*known, *gone):
        groups[service] = []
    for row in calls:
        groups[row.service].append(row)
    for service, rows in groups.items():
        labels = {"service": service}
        number = _sum(rows, "calls")
        if service in gone:
            yield Sample(AVAILABILITY, 0.0, labels, max(number, 1))
        else:
            # Nobody asked for anything, and nothing says that it would fail.
            share = 1 - _sum(rows, "failures") / number if number else 1.0
            yield Sample(AVAILABILITY, share, labels, max(number, 1))
        if number:
            yield Sample(LATENCY, _sum(rows, "seconds") / number, labels, number)
        yield Sample(RETRIES, _in_a_minute(rows, "retries"), labels)


def _of_types(calls: Iterable[CallStatistics]) -> Iterator[Sample]:
    groups: defaultdict[str, list[CallStatistics]] = defaultdict(list)
    for row in calls:
        groups[row.type].append(row)
    for kind, rows in groups.items():
        number = _sum(rows, "calls")
        if number:
            failed = _sum(rows, "failures") + _sum(rows, "client_errors")
            yield Sample(PROCESSING_TIME, _sum(rows, "seconds") / number, {"type": kind}, number)
            yield Sample(ERROR_RATE, failed / number, {"type": kind}, number)
        yield Sample(INTERNAL_ERRORS, _in_a_minute(rows, "internal_errors"), {"type": kind})


def _of_queues(calls: Iterable[CallStatistics], queues: dict[str, str]) -> Iterator[Sample]:
    groups: defaultdict[str, list[CallStatistics]] = defaultdict(list)
    for row in calls:
        if row.service in queues:
            groups[queues[row.service]].append(row)
    for queue, rows in groups.items():
        number = _sum(rows, "calls")
        if number:
            yield Sample(PROCESSING_TIME, _sum(rows, "seconds") / number, _queue(queue), number)
            yield Sample(THROUGHPUT, _in_a_minute(rows, "calls") / SECONDS, _queue(queue), number)


# Beyond the specified eight: what §5.2 wants people to be told of.
INTERNAL_ERRORS = "message.internal_errors"


def _sum(rows: Iterable[CallStatistics], column: str) -> Any:
    return sum(getattr(row, column) for row in rows)


def _in_a_minute(rows: Iterable[CallStatistics], column: str) -> float:
    """The larger of this minute and the one before: neither is hidden by the turn of the minute."""
    minutes: defaultdict[datetime, int] = defaultdict(int)
    for row in rows:
        minutes[row.minute] += getattr(row, column)
    return float(max(minutes.values(), default=0))
