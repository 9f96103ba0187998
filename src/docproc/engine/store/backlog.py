"""The backlog: what waits for whom, how long such work took lately, and who is there to do it."""

from __future__ import annotations

import bisect
from typing import Any

from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store import rows
from docproc.engine.store.messages import REQUEST_FAILED
from docproc.engine.store.tasks import NOTICES

# How much of the history is looked at: enough to know the stages, recent enough to follow a change.
EVENTS = 20_000

# Where the classes of `size_class` begin: 16 KiB to 256 MiB. In SQL the same, empty where nobody knows it.
SIZES = tuple(4**power for power in range(7, 15))
_SIZE_CLASS = (
    "CASE WHEN r.content_bytes IS NULL THEN NULL "
    + " ".join(f"WHEN r.content_bytes < {limit} THEN {number}" for number, limit in enumerate(SIZES))
    + f" ELSE {len(SIZES)} END"
)


async def pending(session: AsyncSession) -> list[Row[Any]]:
    """How many messages wait at which stage, by request.

    Those of a failed request wait for nobody, and what tells people of a task is no work for workers.
    """
    return await rows.execute(
        session,
        f"""
        SELECT r.id, r.workflow_name, r.workflow_version, r.status, r.priority, r.band, r.escalated_at,
               r.deadline_utc, r.content_bytes, r.tenant_id, coalesce(t.weight, 1.0) AS weight,
               m.stage, count(*) AS messages
        FROM messages m JOIN requests r ON r.id = m.request_id
             LEFT JOIN tenants t ON t.tenant_id = r.tenant_id
        WHERE (m.held_by IS NULL OR m.held_by <> :failed) AND m.queue NOT LIKE '{NOTICES}'
        GROUP BY r.id, m.stage, t.weight
        """,
        failed=REQUEST_FAILED,
    )


def size_class(content_bytes: int | None) -> int | None:
    """Contents that are about as large: a class is four times the one before."""
    return None if content_bytes is None else bisect.bisect_right(SIZES, content_bytes)


async def stage_times(session: AsyncSession) -> list[Row[Any]]:
    """Per workflow, stage and class of size: seconds of work for a message, messages, and requests."""
    return await rows.execute(
        session,
        f"""
        SELECT r.workflow_name, e.stage, {_SIZE_CLASS} AS size_class, sum(e.busy_seconds) AS seconds,
               count(*) AS messages, count(DISTINCT e.request_id) AS requests
        FROM events e JOIN requests r ON r.id = e.request_id
        WHERE e.id > (SELECT coalesce(max(id), 0) FROM events) - :events
          AND e.kind = 'handled' AND e.outcome = 'done' AND e.busy_seconds IS NOT NULL
        GROUP BY 1, 2, 3
        """,
        events=EVENTS,
    )


async def workers(session: AsyncSession) -> list[Row[Any]]:
    """Who takes work, of which components, and how much at once."""
    return await rows.execute(session, "SELECT id, components, slots FROM workers WHERE is_ready")
