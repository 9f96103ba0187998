"""What became of requests, by application: received, finished, in time, without a person; and which are open,
near their deadline or past it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.alerts.latency import bucket_of
from docproc.alerts.news import Span
from docproc.alerts.samples import Sample
from docproc.alerts.stage_metrics import seconds_sql
from docproc.engine.message import utc_now
from docproc.engine.store import rows

if TYPE_CHECKING:
    from docproc.app import App

# Numbers since the look before.
RECEIVED, ENDED, LATE = "requests.received", "requests.ended", "requests.late"
STRAIGHT, FAILED, BUCKET = "requests.straight_through", "requests.failed", "requests.bucket"
# Numbers of now.
OPEN, AT_RISK, OVERDUE = "requests.open", "requests.at_risk", "requests.overdue"
# What comes in, an hour, by the last ten minutes: a minute alone says little, an hour comes too late.
VOLUME = "requests.volume"
VOLUME_TIME = timedelta(minutes=10)
# So much of a request's time is left when it counts as at risk (specification §9.3).
LEFT = 0.2

CAME = """
SELECT workflow_name, count(*) AS number FROM requests
WHERE created_at > :begins AND created_at <= :ends GROUP BY workflow_name
"""
# Of the latest events, those that end a request; a breach ends the time it had, whatever is still done. The
# kind is said twice: by the second the planner sees that the index of what is not a handled message serves.
WENT = """
SELECT r.workflow_name, e.outcome, {took} AS seconds,
       CASE WHEN {left} < {share} * r.sla_seconds THEN 1 ELSE 0 END AS was_at_risk,
       CASE WHEN EXISTS (SELECT 1 FROM backoffice_tasks t WHERE t.request_id = r.id) THEN 0 ELSE 1 END
           AS was_alone
FROM events e JOIN requests r ON r.id = e.request_id
WHERE e.id > :first AND e.id <= :last AND e.kind = 'status' AND e.kind <> 'handled'
  AND e.outcome IN ('completed', 'failed', 'sla_breached')
"""
STANDING = """
SELECT workflow_name, count(*) AS number,
       sum(CASE WHEN {left} >= 0 AND {left} < {share} * sla_seconds AND status <> 'sla_breached' THEN 1 ELSE 0
           END) AS at_risk,
       sum(CASE WHEN {left} < 0 THEN 1 ELSE 0 END) AS overdue
FROM requests WHERE completed_at IS NULL GROUP BY workflow_name
"""


async def measure(app: App, session: AsyncSession, span: Span | None) -> list[Sample]:
    """What happened within the span, and how requests stand now."""
    owners = applications_of_workflows(app)
    ended = await _went(session, span) if span else []
    happened = [*await _received(session, span, owners), *_ended(ended, owners)] if span else []
    meanwhile = Counter(owners.get(row.workflow_name, "") for row in ended if row.was_at_risk)
    return [*happened, *await _standing(app, session, owners, meanwhile)]


async def _received(session: AsyncSession, span: Span, owners: dict[str, str]) -> list[Sample]:
    came: Counter[str] = Counter()
    for row in await rows.execute(session, CAME, begins=span.begins.at, ends=span.ends.at):
        came[owners.get(row.workflow_name, "")] += row.number
    return [Sample(RECEIVED, number, {"application": name}) for name, number in came.items()]


async def _went(session: AsyncSession, span: Span) -> list[Any]:
    statement = WENT.format(
        took=seconds_sql(session, "r.created_at", "e.finished_at"),
        left=seconds_sql(session, "e.finished_at", "r.deadline_utc"),
        share=LEFT,
    )
    return await rows.execute(session, statement, first=span.begins.event_id, last=span.ends.event_id)


def _ended(ended: Iterable[Any], owners: dict[str, str]) -> Iterable[Sample]:
    by_application: defaultdict[str, list[Any]] = defaultdict(list)
    for row in ended:
        by_application[owners.get(row.workflow_name, "")].append(row)
    for name, found in by_application.items():
        labels = {"application": name}
        numbers = {
            ENDED: len(found),
            LATE: sum(row.outcome == "sla_breached" for row in found),
            FAILED: sum(row.outcome == "failed" for row in found),
            STRAIGHT: sum(row.outcome == "completed" and bool(row.was_alone) for row in found),
        }
        for metric, number in numbers.items():
            if number or metric == ENDED:
                yield Sample(metric, number, labels)
        for bucket, number in Counter(bucket_of(row.seconds or 0.0) for row in found).items():
            yield Sample(BUCKET, number, {**labels, "bucket": str(bucket)})


async def _standing(
    app: App, session: AsyncSession, owners: dict[str, str], meanwhile: Counter[str]
) -> list[Sample]:
    """How requests stand now. Where their time is short, the risk may begin and end between two looks: what
    ended `meanwhile`, late or nearly so, was at risk, too."""
    values = {"left": _left(session, "deadline_utc"), "share": LEFT}
    found = await rows.execute(session, STANDING.format(**values), now=utc_now())
    numbers: dict[str, Counter[str]] = {one.name: Counter() for one in app.applications.all}
    for row in found:
        counted = numbers.setdefault(owners.get(row.workflow_name, ""), Counter())
        counted.update({OPEN: row.number, AT_RISK: row.at_risk or 0, OVERDUE: row.overdue or 0})
    for name, number in meanwhile.items():
        numbers.setdefault(name, Counter())[AT_RISK] += number
    samples = [
        Sample(metric, counted[metric], {"application": name})
        for name, counted in numbers.items()
        for metric in (OPEN, AT_RISK, OVERDUE)
    ]
    return [*samples, *await _volume(session, owners, numbers)]


async def _volume(session: AsyncSession, owners: dict[str, str], known: Iterable[str]) -> list[Sample]:
    now = utc_now()
    found = await rows.execute(session, CAME, begins=now - VOLUME_TIME, ends=now)
    came: Counter[str] = Counter(dict.fromkeys(known, 0))
    for row in found:
        came[owners.get(row.workflow_name, "")] += row.number
    times = timedelta(hours=1) / VOLUME_TIME
    return [
        Sample(VOLUME, number * times, {"application": name}, count=number) for name, number in came.items()
    ]


def _left(session: AsyncSession, deadline: str) -> str:
    if session.get_bind().dialect.name == "postgresql":
        return seconds_sql(session, "CAST(:now AS timestamptz)", deadline)
    return seconds_sql(session, ":now", deadline)


def applications_of_workflows(app: App) -> dict[str, str]:
    """Workflow -> the application that most of its stages belong to."""
    owners = {spec.name: one.name for one in app.applications.all for spec in one.components}
    found = {}
    for flow in app.loader.usable():
        names = Counter(owners[stage.component] for stage in flow.stages if stage.component in owners)
        found[flow.name] = names.most_common(1)[0][0] if names else ""
    return found
