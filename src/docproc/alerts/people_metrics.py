"""The back office: what waits for people, who is there for it, and how long answers take."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.alerts.news import Span
from docproc.alerts.samples import Sample
from docproc.alerts.stage_metrics import seconds_sql
from docproc.engine.message import utc_now
from docproc.engine.running.bands import MOST_URGENT
from docproc.engine.store import rows
from docproc.engine.store.columns import as_moment
from docproc.engine.store.task_tables import Operator
from docproc.people.store.operators import person

# Numbers of now, by type of task, which is the skill it takes.
OPEN, OLDEST, URGENT = "tasks.open", "tasks.oldest", "tasks.urgent"
PRESENT, MISSING = "operators.present", "operators.missing"
# Numbers since the look before.
ANSWERED, ANSWER_SECONDS = "tasks.answered", "tasks.answer_seconds"

# A question is urgent while somebody waits for its answer and the request's time is running out.
WAITING = f"""
SELECT t.task_type, count(*) AS number, min(t.created_at) AS oldest,
       sum(CASE WHEN t.status = 'pending' AND r.completed_at IS NULL AND r.breached_at IS NULL
                     AND (t.priority >= {MOST_URGENT} OR r.warned_at IS NOT NULL)
           THEN 1 ELSE 0 END) AS urgent
FROM backoffice_tasks t JOIN requests r ON r.id = t.request_id
WHERE t.status IN ('pending', 'assigned') GROUP BY t.task_type
"""
# From the question to its answer; what was closed because its request was over is no answer of a person.
DONE = """
SELECT task_type, count(*) AS number, sum({seconds}) AS seconds FROM backoffice_tasks
WHERE status = 'completed' AND completed_at > :begins AND completed_at <= :ends AND assigned_to IS NOT NULL
GROUP BY task_type
"""


async def measure(session: AsyncSession, kinds: set[str], span: Span | None) -> list[Sample]:
    """`kinds`: the types of tasks that there may be; of those without a task it is told, too."""
    now = utc_now()
    waiting = {row.task_type: row for row in await rows.execute(session, WAITING)}
    present = await _present(session, now)
    samples = [Sample(PRESENT, present[""], {})]
    for kind in sorted({*kinds, *waiting}):
        row, labels = waiting.get(kind), {"type": kind}
        urgent = int(row.urgent or 0) if row else 0
        oldest = (now - as_moment(row.oldest)).total_seconds() if row else 0.0
        samples += [
            Sample(OPEN, row.number if row else 0, labels),
            Sample(OLDEST, max(0.0, oldest), labels),
            Sample(URGENT, urgent, labels),
            Sample(PRESENT, present[kind], labels),
            Sample(MISSING, max(0, urgent - present[kind]), labels),
        ]
    return [*samples, *(await _answered(session, span) if span else [])]


async def _present(session: AsyncSession, now: datetime) -> Counter[str]:
    """Who is there and on shift, by skill; "" is everybody."""
    query = select(
        Operator.username, Operator.skills, Operator.last_seen_at, Operator.shifts, Operator.handling
    )
    counted: Counter[str] = Counter()
    for row in await session.execute(query.where(Operator.is_active)):
        one = person(row)
        if one.is_present(now) and one.seconds_left(now, now + timedelta(seconds=1)) > 0:
            counted.update(["", *one.skills])
    return counted


async def _answered(session: AsyncSession, span: Span) -> list[Sample]:
    statement = DONE.format(seconds=seconds_sql(session, "created_at", "completed_at"))
    found: list[Any] = await rows.execute(session, statement, begins=span.begins.at, ends=span.ends.at)
    samples = []
    for row in found:
        labels = {"type": row.task_type}
        samples += [Sample(ANSWERED, row.number, labels), Sample(ANSWER_SECONDS, row.seconds, labels)]
    return samples
