"""The backlog: what waits for whom, how long such work took lately, and who is there to do it."""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store import rows
from docproc.engine.store.messages import REQUEST_FAILED
from docproc.engine.store.tasks import NOTICES

# How much of the history is looked at: enough to know the stages, recent enough to follow a change.
EVENTS = 20_000


async def pending(session: AsyncSession) -> list[Row[Any]]:
    """How many messages wait at which stage, by request.

    Those of a failed request wait for nobody, and what tells people of a task is no work for workers.
    """
    return await rows.execute(
        session,
        f"""
        SELECT r.id, r.workflow_name, r.workflow_version, r.status, r.priority, r.band, r.escalated_at,
               r.deadline_utc, m.stage, count(*) AS messages
        FROM messages m JOIN requests r ON r.id = m.request_id
        WHERE (m.held_by IS NULL OR m.held_by <> :failed) AND m.queue NOT LIKE '{NOTICES}'
        GROUP BY r.id, m.stage
        """,
        failed=REQUEST_FAILED,
    )


async def stage_times(session: AsyncSession) -> list[Row[Any]]:
    """Per workflow and stage: seconds of work for a message, and messages for a request."""
    return await rows.execute(
        session,
        """
        SELECT r.workflow_name, e.stage, avg(e.busy_seconds) AS seconds,
               count(*) * 1.0 / count(DISTINCT e.request_id) AS visits
        FROM events e JOIN requests r ON r.id = e.request_id
        WHERE e.id > (SELECT coalesce(max(id), 0) FROM events) - :events
          AND e.kind = 'handled' AND e.outcome = 'done' AND e.busy_seconds IS NOT NULL
        GROUP BY r.workflow_name, e.stage
        """,
        events=EVENTS,
    )


async def workers(session: AsyncSession) -> list[Row[Any]]:
    """Who takes work, of which components, and how much at once."""
    return await rows.execute(session, "SELECT id, components, slots FROM workers WHERE is_ready")
