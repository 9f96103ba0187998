"""The metrics of every deployment, whatever its applications: queues, stages and tenants."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.alerts.samples import TENANT, Sample
from docproc.engine.message import utc_now
from docproc.engine.store import rows
from docproc.engine.store.backlog import EVENTS
from docproc.engine.store.columns import as_moment
from docproc.engine.store.tasks import NOTICES

if TYPE_CHECKING:
    from docproc.app import App

QUEUE_DEPTH = "queue.depth"
QUEUE_AGE = "queue.age"
PROCESSING_TIME = "message.processing_time"
ERROR_RATE = "message.error_rate"
THROUGHPUT = "system.throughput"

# The oldest that may be taken: what is put off, or is being worked on, does not wait for anybody.
WAITING = f"""
SELECT queue, tenant_id, count(*) AS number,
       min(CASE WHEN state IN ('ready', 'sent') THEN available_at END) AS oldest FROM messages
WHERE state <> 'held' AND queue NOT LIKE '{NOTICES}' GROUP BY queue, tenant_id
"""
# Of the latest events only: the table is long, and has no index on moments.
HANDLED = """
SELECT stage, tenant_id, outcome, count(*) AS number, sum(busy_seconds) AS seconds FROM events
WHERE id > (SELECT coalesce(max(id), 0) FROM events) - :events
  AND kind = 'handled' AND finished_at >= :since
GROUP BY stage, tenant_id, outcome
"""
# Tenants, and stages of plans that clients make up, may be many: the busiest are measured one by one.
MOST_TENANTS = 200
_FAILED = ("retry", "dead_letter")
SECONDS = 60.0


async def measure(app: App, session: AsyncSession, since: datetime) -> list[Sample]:
    """How much waits, and what was handled in the last minute."""
    waiting = await rows.execute(session, WAITING)
    handled = await rows.execute(session, HANDLED, events=EVENTS, since=since)
    return [*_depths(app, waiting), *_handled(handled), *_of_queues(app, handled)]


def _depths(app: App, waiting: Iterable[Any]) -> Iterable[Sample]:
    applications = application_of_queues(app)
    by_queue: defaultdict[str, int] = defaultdict(int)
    by_tenant: defaultdict[str, int] = defaultdict(int)
    ages: defaultdict[str, float] = defaultdict(float)
    now = utc_now()
    for queue in applications:
        by_queue[queue] = 0  # an empty queue is worth knowing, too
    for row in waiting:
        by_queue[row.queue] += row.number
        by_tenant[row.tenant_id] += row.number
        if row.oldest is not None:
            ages[row.queue] = max(ages[row.queue], (now - as_moment(row.oldest)).total_seconds())
    for queue, number in by_queue.items():
        labels = {"application": applications.get(queue, ""), "queue": queue}
        yield Sample(QUEUE_DEPTH, number, labels)
        yield Sample(QUEUE_AGE, ages[queue], labels)
    busiest = sorted(by_tenant, key=lambda one: -by_tenant[one])[:MOST_TENANTS]
    for tenant, number in ((one, by_tenant[one]) for one in busiest):
        yield Sample(QUEUE_DEPTH, number, {TENANT: tenant})


def application_of_queues(app: App) -> dict[str, str]:
    """Queue -> the application that works on it; the engine's own are nobody's."""
    owners = {spec.name: one.name for one in app.applications.all for spec in one.components}
    return {spec.input_queue: owners.get(spec.name, "") for spec in app.registry.specs.values()}


def _handled(handled: Iterable[Any]) -> Iterable[Sample]:
    found = list(handled)
    yield Sample(THROUGHPUT, sum(row.number for row in found) / SECONDS, {})
    for label, column in (("stage", "stage"), (TENANT, "tenant_id")):
        groups: defaultdict[str, list[Any]] = defaultdict(list)
        for row in found:
            if getattr(row, column) is not None:
                groups[getattr(row, column)].append(row)
        busiest = sorted(groups, key=lambda one: -sum(row.number for row in groups[one]))[:MOST_TENANTS]
        for value in busiest:
            yield from _of_group({label: value}, groups[value])


def _of_queues(app: App, handled: Iterable[Any]) -> Iterable[Sample]:
    """What was handled by the queue it came from: a stage's component says which."""
    specs, applications = app.registry.specs, application_of_queues(app)
    queues = {
        stage.name: specs[stage.component].input_queue
        for flow in app.loader.usable()
        for stage in flow.stages
        if stage.component in specs
    }
    groups: defaultdict[str, list[Any]] = defaultdict(list)
    for row in handled:
        if row.stage in queues:
            groups[queues[row.stage]].append(row)
    for queue, rows_of in groups.items():
        yield from _of_group({"application": applications.get(queue, ""), "queue": queue}, rows_of)


def _of_group(labels: dict[str, str], found: list[Any]) -> Iterable[Sample]:
    number = sum(row.number for row in found)
    failed = sum(row.number for row in found if row.outcome in _FAILED)
    seconds = sum(row.seconds or 0.0 for row in found)
    yield Sample(THROUGHPUT, number / SECONDS, labels, number)
    yield Sample(ERROR_RATE, failed / number, labels, number)
    yield Sample(PROCESSING_TIME, seconds / number, labels, number)
