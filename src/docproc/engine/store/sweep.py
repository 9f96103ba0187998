"""Old engine rows of ended requests: removed after the retention time, in small steps."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store import events, rows
from docproc.engine.store.session import Store

# Engine rows only; requests, pages and documents are the customer's data. A request with an open dead letter
# keeps its rows: a replay needs its joins.
SWEPT_TABLES = ("messages", "fan_in_arrivals", "aggregation_state")
# What people did stays as long as the content they did it to, and longer (erasure.py): who looked at it, who
# changed it.
_OF_MACHINES = f"kind NOT IN ({', '.join(repr(kind) for kind in sorted(events.AUDITED))})"
STEP = 500


async def sweep(store: Store, retention_days: float) -> int:
    """Remove engine rows of requests that ended longer ago than that; returns how many requests."""
    async with store.writing() as session:
        old = f"received_at < {store.clock_plus(':age')}"
        await rows.execute(session, f"DELETE FROM inbox WHERE {old}", age=-retention_days * 86_400)
    total = 0
    while True:
        async with store.writing() as session:
            swept = await _sweep_some(session, store, retention_days)
        total += swept
        if swept < STEP:
            return total


async def _sweep_some(session: AsyncSession, store: Store, retention_days: float) -> int:
    ended = await rows.execute(
        session,
        f"""
        SELECT id FROM requests r
        WHERE status IN ('completed', 'failed', 'sla_breached')
          AND coalesce(amended_at, completed_at, breached_at) < {store.clock_plus(":age")}
          AND (EXISTS (SELECT 1 FROM events e WHERE e.request_id = r.id AND e.{_OF_MACHINES})
               OR EXISTS (SELECT 1 FROM fan_in_arrivals f WHERE f.request_id = r.id)
               OR EXISTS (SELECT 1 FROM aggregation_state a WHERE a.request_id = r.id))
          AND NOT EXISTS (SELECT 1 FROM dead_letters d WHERE d.request_id = r.id AND d.settled_at IS NULL)
        LIMIT {STEP}
        """,
        age=-retention_days * 86_400,
    )
    ids = [row.id for row in ended]
    if ids:
        chosen = rows.among(store.dialect, "request_id", ":ids")
        for table in SWEPT_TABLES:
            await rows.execute(session, f"DELETE FROM {table} WHERE {chosen}", ids=ids)
        await rows.execute(session, f"DELETE FROM events WHERE {chosen} AND {_OF_MACHINES}", ids=ids)
    return len(ids)
