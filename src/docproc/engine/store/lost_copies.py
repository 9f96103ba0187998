"""Rows that say a broker has their copy: how many, which, and to be published again where it has not."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from docproc.engine.store import rows
from docproc.engine.store.columns import as_uuid
from docproc.engine.store.session import Store


def _sent(store: Store) -> str:
    """SQL for "sent, and not just now"; takes :age, which is negative."""
    return f"state = 'sent' AND available_at < {store.clock_plus(':age')}"


async def count_sent(connection: AsyncConnection, store: Store, age_seconds: float) -> dict[str, int]:
    """For each queue, the rows whose copies were sent longer ago than that."""
    found = await rows.execute(
        connection,
        f"SELECT queue, count(*) AS number FROM messages WHERE {_sent(store)} GROUP BY queue",
        age=-age_seconds,
    )
    return {row.queue: row.number for row in found}


async def sent_ids(connection: AsyncConnection, store: Store, queue: str, age_seconds: float) -> set[UUID]:
    found = await rows.execute(
        connection,
        f"SELECT id FROM messages WHERE queue = :queue AND {_sent(store)}",
        queue=queue,
        age=-age_seconds,
    )
    return {as_uuid(row.id) for row in found}


async def release(
    connection: AsyncConnection, store: Store, ids: Sequence[UUID], age_seconds: float
) -> list[UUID]:
    """Have these published again, unless somebody did meanwhile; returns those."""
    released = await rows.execute(
        connection,
        "UPDATE messages SET state = 'ready', worker_id = NULL "
        f"WHERE {rows.among(store.dialect, 'id', ':ids')} AND {_sent(store)} RETURNING id",
        ids=[str(one) for one in ids] if store.is_sqlite else list(ids),
        age=-age_seconds,
    )
    return [as_uuid(row.id) for row in released]
