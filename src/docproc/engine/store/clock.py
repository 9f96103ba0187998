"""The database's clock, when somebody sets it back: what was put off for a moment must not wait for hours.

The last moment that anybody saw is kept in the row `clock` of `duties`; whoever finds it ahead of the clock
moves what was put off by as much. Deadlines are not moved: they are moments of the calendar.
"""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncConnection

from docproc.engine.store import rows
from docproc.engine.store.session import Store

# Smaller steps only make a wait that much longer.
STEP_SECONDS = 2.0
# So often the moment is kept: it is how much longer than meant something may wait after a step.
KEEP_SECONDS = 0.5
_NAME = "clock"
# Moments until which something waits, and which rows wait for them. A copy that was sent in the future would
# not be missed for as long.
_WAITING = (
    ("messages", "available_at", "state IN ('delayed', 'sent')"),
    ("deliveries", "next_attempt_at", "state = 'pending'"),
    ("deliveries", "claimed_until", "state = 'pending'"),
)


async def follow(connection: AsyncConnection, store: Store) -> float:
    """Seconds by which the clock was set back since anybody looked last; what waited then waits no longer.

    Called by every worker about once a second: the row's lock lets one of them move everything, once. What is
    put off between the step and this look is moved, too, and so comes early.
    """
    ahead = await _ahead(connection, store)
    if ahead is None or ahead < -KEEP_SECONDS or ahead > STEP_SECONDS:
        await _keep(connection, store)
    if ahead is None or ahead <= STEP_SECONDS:
        return 0.0
    for table, column, which in _WAITING:
        earlier = (
            f"strftime('%Y-%m-%d %H:%M:%f000', {column}, (:back) || ' seconds')"
            if store.is_sqlite
            else f"{column} + make_interval(secs => :back)"
        )
        await rows.execute(
            connection,
            f"UPDATE {table} SET {column} = {earlier} WHERE {which} AND {column} > {store.clock}",
            back=-ahead,
        )
    return ahead


async def _ahead(connection: AsyncConnection, store: Store) -> float | None:
    """How far the last moment seen lies in the future; None when none was."""
    if store.is_sqlite:  # its transactions for claims hold the write lock from their beginning
        ahead, lock = f"(julianday(until) - julianday({store.clock})) * 86400.0", ""
    else:
        ahead, lock = "extract(epoch FROM until - clock_timestamp())::float8", "FOR UPDATE"
    found = await rows.execute(
        connection, f"SELECT {ahead} AS ahead FROM duties WHERE name = :name {lock}", name=_NAME
    )
    return float(found[0].ahead) if found else None


async def _keep(connection: AsyncConnection, store: Store) -> None:
    await rows.execute(
        connection,
        f"INSERT INTO duties (name, holder, until, tenant_id) VALUES (:name, '', {store.clock}, 'default') "
        "ON CONFLICT (name) DO UPDATE SET until = excluded.until",
        name=_NAME,
    )
