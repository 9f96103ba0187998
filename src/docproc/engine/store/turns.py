"""Turns: which tenants have messages waiting in a queue, and taking some of one tenant's."""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from docproc.engine.fair_order import Group, Turn
from docproc.engine.message import utc_now
from docproc.engine.store import rows
from docproc.engine.store.columns import as_moment
from docproc.engine.store.messages import ORDER, in_order, picked

_READY = "state = 'ready' AND queue = :queue"

# Jumps along the index from tenant to tenant and from band to band: however many messages wait, it costs one
# look for each group of them.
_GROUPS = f"""
WITH RECURSIVE
tenants_waiting (tenant_id) AS (
    SELECT (SELECT tenant_id FROM messages WHERE {_READY} ORDER BY tenant_id LIMIT 1)
    UNION ALL
    SELECT (SELECT m.tenant_id FROM messages m WHERE {_READY} AND m.tenant_id > w.tenant_id
            ORDER BY m.tenant_id LIMIT 1)
    FROM tenants_waiting w WHERE w.tenant_id IS NOT NULL
),
bands_waiting (tenant_id, band) AS (
    SELECT w.tenant_id, (SELECT m.band FROM messages m WHERE {_READY} AND m.tenant_id = w.tenant_id
                         ORDER BY m.band DESC LIMIT 1)
    FROM tenants_waiting w WHERE w.tenant_id IS NOT NULL
    UNION ALL
    SELECT b.tenant_id, (SELECT m.band FROM messages m WHERE {_READY} AND m.tenant_id = b.tenant_id
                         AND m.band < b.band ORDER BY m.band DESC LIMIT 1)
    FROM bands_waiting b WHERE b.band IS NOT NULL
)
SELECT b.tenant_id, b.band, t.weight,
       (SELECT m.created_at FROM messages m WHERE {_READY} AND m.tenant_id = b.tenant_id AND m.band = b.band
        ORDER BY m.deadline_utc, m.created_at LIMIT 1) AS since
FROM bands_waiting b LEFT JOIN tenants t ON t.tenant_id = b.tenant_id
WHERE b.band IS NOT NULL
"""

_QUEUES = """
WITH RECURSIVE queues_waiting (queue) AS (
    SELECT (SELECT queue FROM messages WHERE state = 'ready' ORDER BY queue LIMIT 1)
    UNION ALL
    SELECT (SELECT m.queue FROM messages m WHERE m.state = 'ready' AND m.queue > w.queue
            ORDER BY m.queue LIMIT 1)
    FROM queues_waiting w WHERE w.queue IS NOT NULL
)
SELECT queue FROM queues_waiting WHERE queue IS NOT NULL
"""

_OTHERS = f"""
SELECT EXISTS (SELECT 1 FROM messages WHERE {_READY} AND tenant_id < :tenant)
    OR EXISTS (SELECT 1 FROM messages WHERE {_READY} AND tenant_id > :tenant) AS are_there
"""

_WAITING = f"""
SELECT count(*) AS number
FROM (SELECT 1 FROM messages WHERE {_READY} AND tenant_id = :tenant LIMIT :most) AS found
"""

_OTHER_TENANTS = "SELECT 1 FROM tenants WHERE tenant_id <> 'default' LIMIT 1"

_TURN = f"{_READY} AND tenant_id = :tenant AND band BETWEEN :lowest AND :highest"
_MINE = f"{_TURN} ORDER BY {ORDER} LIMIT :limit"


async def groups(connection: AsyncConnection, queue: str) -> list[Group]:
    """The tenants and bands of what is ready in a queue."""
    now = utc_now()
    found = await rows.execute(connection, _GROUPS, queue=queue)
    return [
        Group(
            row.tenant_id,
            row.band,
            1.0 if row.weight is None else row.weight,
            0.0 if row.since is None else (now - as_moment(row.since)).total_seconds(),
        )
        for row in found
    ]


async def others_wait(connection: AsyncConnection, queue: str, tenant_id: str) -> bool:
    """Whether anything is ready in a queue that is not this tenant's."""
    (found,) = await rows.execute(connection, _OTHERS, queue=queue, tenant=tenant_id)
    return bool(found.are_there)


async def waiting(session: AsyncSession, queue: str, tenant_id: str, most: int) -> int:
    """How many messages of a tenant are ready in a queue, as far as `most`."""
    (found,) = await rows.execute(session, _WAITING, queue=queue, tenant=tenant_id, most=most)
    return int(found.number)


async def has_tenants(session: AsyncSession | AsyncConnection) -> bool:
    """Whether there is anybody beside `default`."""
    return bool(await rows.execute(session, _OTHER_TENANTS))


async def queues(connection: AsyncConnection) -> list[str]:
    """Where anything is ready."""
    return [row.queue for row in await rows.execute(connection, _QUEUES)]


async def claim(
    connection: AsyncConnection, dialect: str, queue: str, turn: Turn, worker_id: str
) -> list[Row[Any]]:
    """Lease the most urgent ready rows of a tenant; other workers skip what is being leased."""
    leased = await rows.execute(
        connection,
        picked(dialect, _MINE)
        + " UPDATE messages SET state = 'leased', worker_id = :worker WHERE id IN (SELECT id FROM picked) "
        "RETURNING id, body, attempt, cursor, band, deadline_utc, created_at, tenant_id",
        **_values(queue, turn, worker_id),
    )
    return in_order(leased)


async def take_unsent(connection: AsyncConnection, queue: str, turn: Turn, worker_id: str) -> list[Row[Any]]:
    """Rows of a tenant that no broker has a copy of: this worker will publish them and vouches for it."""
    taken = await rows.execute(
        connection,
        picked("postgresql", _MINE)
        + " UPDATE messages SET state = 'sent', worker_id = :worker, available_at = clock_timestamp() "
        "WHERE id IN (SELECT id FROM picked) RETURNING id, queue, band, body, deadline_utc, created_at",
        **_values(queue, turn, worker_id),
    )
    return in_order(taken)


def _values(queue: str, turn: Turn, worker_id: str) -> dict[str, Any]:
    return {
        "queue": queue,
        "tenant": turn.tenant_id,
        "lowest": turn.lowest,
        "highest": turn.highest,
        "limit": turn.number,
        "worker": worker_id,
    }
