"""Worker rows: who is alive by the database's clock, and whose leases are free to take."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from docproc.engine.store import rows
from docproc.engine.store.session import Store

BEAT_SECONDS = 1.0
STALE_SECONDS = 4.0


def new_worker_id() -> str:
    return f"{socket.gethostname()[:48]}-{os.getpid()}-{secrets.token_hex(4)}"


async def beat(
    connection: AsyncConnection,
    store: Store,
    worker_id: str,
    *,
    components: str,
    is_ready: bool,
    slots: int = 1,
    cpu_pct: float | None = None,
    memory_mb: float | None = None,
) -> None:
    """Say "alive", registering the worker at first, or again if it was declared dead meanwhile."""
    await rows.execute(
        connection,
        f"""
        INSERT INTO workers (
            id, tenant_id, host, pid, components, is_ready, slots, started_at, beat_at, cpu_pct, memory_mb
        ) VALUES (
            :id, 'default', :host, :pid, :components, :ready, :slots, {store.clock}, {store.clock}, :cpu,
            :memory
        )
        ON CONFLICT (id) DO UPDATE SET beat_at = {store.clock}, is_ready = :ready, components = :components,
            cpu_pct = :cpu, memory_mb = :memory
        """,
        id=worker_id,
        host=socket.gethostname()[:255],
        pid=os.getpid(),
        components=components,
        ready=is_ready,
        slots=slots,
        cpu=cpu_pct,
        memory=memory_mb,
    )


async def free(connection: AsyncConnection, worker_id: str) -> list[str]:
    """A worker is gone: its leases and the copies it vouched for are open again. Returns their queues."""
    freed = await rows.execute(
        connection,
        "UPDATE messages SET state = 'ready', worker_id = NULL "
        "WHERE worker_id = :worker AND state IN ('leased', 'sent') RETURNING queue",
        worker=worker_id,
    )
    await rows.execute(connection, "DELETE FROM workers WHERE id = :worker", worker=worker_id)
    return sorted({row.queue for row in freed})


async def free_unknown(
    connection: AsyncConnection, store: Store, worker_id: str, queue: str, known: Iterable[UUID]
) -> None:
    """Leases in a queue that their worker knows nothing of: committed, but it was not told any more."""
    ids = [str(one) for one in known] if store.is_sqlite else list(known)
    await rows.execute(
        connection,
        "UPDATE messages SET state = 'ready', worker_id = NULL WHERE queue = :queue AND state = 'leased' "
        f"AND worker_id = :worker AND NOT ({rows.among(store.dialect, 'id', ':ids')})",
        queue=queue,
        worker=worker_id,
        ids=ids,
    )


async def leave(connection: AsyncConnection, worker_id: str) -> list[str]:
    """A worker ends in good order: only its unfinished leases go back, its copies are at the broker."""
    freed = await rows.execute(
        connection,
        "UPDATE messages SET state = 'ready', worker_id = NULL "
        "WHERE worker_id = :worker AND state = 'leased' RETURNING queue",
        worker=worker_id,
    )
    await rows.execute(connection, "DELETE FROM workers WHERE id = :worker", worker=worker_id)
    return sorted({row.queue for row in freed})


async def take_over(connection: AsyncConnection, store: Store) -> tuple[list[str], list[str]]:
    """Free what dead workers held; returns (dead workers, queues to look at)."""
    # The clock was set back: a beat of the future would keep the dead alive till then. The living beat again.
    await rows.execute(
        connection,
        f"UPDATE workers SET beat_at = {store.clock} WHERE beat_at > {store.clock_plus(':age')}",
        age=STALE_SECONDS,
    )
    stale = await rows.execute(
        connection,
        f"DELETE FROM workers WHERE beat_at < {store.clock_plus(':age')} RETURNING id",
        age=-STALE_SECONDS,
    )
    dead = [row.id for row in stale]
    queues: set[str] = set()
    for worker_id in dead:
        queues.update(await free(connection, worker_id))
    return dead, sorted(queues)


async def free_orphans(connection: AsyncConnection) -> list[str]:
    """Leases of workers without a row (they died just after being declared dead once)."""
    freed = await rows.execute(
        connection,
        "UPDATE messages SET state = 'ready', worker_id = NULL WHERE state = 'leased' "
        "AND NOT EXISTS (SELECT 1 FROM workers w WHERE w.id = messages.worker_id) RETURNING queue",
    )
    return sorted({row.queue for row in freed})


async def ready(session: AsyncSession, store: Store) -> set[str]:
    """Who said "ready" lately; older words may be those of a worker that no longer reaches the database."""
    found = await rows.execute(
        session,
        f"SELECT id FROM workers WHERE is_ready AND beat_at > {store.clock_plus(':age')}",
        age=-STALE_SECONDS,
    )
    return {row.id for row in found}


async def seconds_to_next_stale(connection: AsyncConnection, store: Store) -> float:
    """When the oldest beat will be stale, so that nobody has to look before."""
    if store.is_sqlite:
        age = f"(julianday({store.clock}) - julianday(min(beat_at))) * 86400.0"
    else:
        age = "extract(epoch FROM clock_timestamp() - min(beat_at))::float8"
    found: list[Any] = await rows.execute(connection, f"SELECT {age} AS age FROM workers")
    return STALE_SECONDS - (found[0].age or 0.0)
