"""Duties: what one process at a time does for all. The database's clock decides who holds one."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncConnection

from docproc.engine.store import rows
from docproc.engine.store.session import Store


async def hold(connection: AsyncConnection, store: Store, name: str, holder: str, seconds: float) -> bool:
    """Take or renew a duty for that long; False while another process holds it.

    Nobody holds one for longer: a term that ends far ahead was taken before the clock was set back.
    """
    held = await rows.execute(
        connection,
        f"""
        INSERT INTO duties (name, holder, until, tenant_id)
        VALUES (:name, :holder, {store.clock_plus(":seconds")}, 'default')
        ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
        WHERE duties.holder = excluded.holder OR duties.until < {store.clock}
            OR duties.until > {store.clock_plus(":beyond")}
        RETURNING name
        """,
        name=name,
        holder=holder,
        seconds=float(seconds),
        beyond=2.0 * seconds,
    )
    return bool(held)


async def give_up(connection: AsyncConnection, name: str, holder: str) -> None:
    """Leave a duty to others at once."""
    await rows.execute(
        connection, "DELETE FROM duties WHERE name = :name AND holder = :holder", name=name, holder=holder
    )
