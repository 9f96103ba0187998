"""What stages did: how many units, how long each took, how often a person was asked; by type, where an
application tells types apart."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.alerts.latency import bucket_of_sql
from docproc.alerts.news import Span
from docproc.alerts.samples import Sample
from docproc.engine.store import rows

if TYPE_CHECKING:
    from docproc.app import App

# Each is a number since the look before; `counted.py` adds them up over any time.
HANDLED, FAILED, ASKED = "stage.handled", "stage.failed", "stage.asked"
SECONDS, BUCKET = "stage.seconds", "stage.bucket"
# Stages of plans that clients make up may be many: the busiest are counted one by one.
MOST_STAGES = 100
# The note that a person is asked is written just before that of the message that asked.
_BEFORE = 2000

COUNTED = """
SELECT h.stage, h.outcome, h.type, {bucket} AS bucket, count(*) AS number, sum(h.seconds) AS seconds,
       count(t.stage) AS asked
FROM (
    SELECT stage, request_id, unit_key, outcome, data ->> 'type' AS type, {seconds} AS seconds FROM events
    WHERE id > :first AND id <= :last AND kind = 'handled' AND stage IS NOT NULL
) h LEFT JOIN (
    SELECT DISTINCT request_id, stage, unit_key FROM events
    WHERE id > :first - {before} AND id <= :last AND kind = 'task' AND outcome = 'pending'
) t ON t.request_id = h.request_id AND t.stage = h.stage AND t.unit_key = h.unit_key AND h.outcome = 'done'
GROUP BY 1, 2, 3, 4
"""


async def measure(app: App, session: AsyncSession, span: Span) -> list[Sample]:
    seconds = seconds_sql(session, "started_at", "finished_at")
    statement = COUNTED.format(bucket=bucket_of_sql("h.seconds"), seconds=seconds, before=_BEFORE)
    found = await rows.execute(session, statement, first=span.begins.event_id, last=span.ends.event_id)
    return list(_samples(found, components_of_stages(app)))


def components_of_stages(app: App) -> dict[str, str]:
    """Stage -> its component, as the workflows say now."""
    return {stage.name: stage.component for flow in app.loader.usable() for stage in flow.stages}


def seconds_sql(session: AsyncSession, begins: str, ends: str) -> str:
    """The seconds between two moments, as either database computes them."""
    if session.get_bind().dialect.name == "postgresql":
        return f"extract(epoch FROM {ends} - {begins})::float8"
    return f"(julianday({ends}) - julianday({begins})) * 86400.0"


def _samples(found: Iterable[Any], components: dict[str, str]) -> Iterable[Sample]:
    by_stage: defaultdict[str, list[Any]] = defaultdict(list)
    for row in found:
        by_stage[row.stage].append(row)
    busiest = sorted(by_stage, key=lambda name: -sum(row.number for row in by_stage[name]))[:MOST_STAGES]
    for stage in busiest:
        labels = {"stage": stage, "component": components.get(stage, "")}
        done = [row for row in by_stage[stage] if row.outcome == "done"]
        failed = sum(row.number for row in by_stage[stage] if row.outcome in ("retry", "dead_letter"))
        if failed:
            yield Sample(FAILED, failed, labels)
        yield from _done(done, labels)


def _done(done: list[Any], labels: dict[str, str]) -> Iterable[Sample]:
    if not done:
        return
    yield Sample(HANDLED, sum(row.number for row in done), labels)
    yield Sample(SECONDS, sum(row.seconds or 0.0 for row in done), labels)
    buckets: Counter[int] = Counter()
    by_type: defaultdict[str, list[Any]] = defaultdict(list)
    for row in done:
        buckets[row.bucket] += row.number
        if row.type:
            by_type[row.type].append(row)
    for bucket, number in buckets.items():
        yield Sample(BUCKET, number, {"stage": labels["stage"], "bucket": str(bucket)})
    if asked := sum(row.asked for row in done):
        yield Sample(ASKED, asked, labels)
    for kind, rows_of in by_type.items():
        of_type = {"stage": labels["stage"], "type": kind}
        yield Sample(HANDLED, sum(row.number for row in rows_of), of_type)
        if asked := sum(row.asked for row in rows_of):
            yield Sample(ASKED, asked, of_type)
