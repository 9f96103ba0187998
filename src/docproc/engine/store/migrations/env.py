"""Alembic's entry: migrate the connection handed over, or the database of the settings."""

from __future__ import annotations

import asyncio

from alembic import context
from sqlalchemy import Connection

from docproc.engine.store.tables import Base


def run(connection: Connection) -> None:
    context.configure(connection=connection, target_metadata=Base.metadata, transaction_per_migration=False)
    with context.begin_transaction():
        context.run_migrations()


async def run_alone() -> None:
    """`alembic upgrade head` on its own, as the specification's manual has it."""
    from docproc.engine.store.session import Store
    from docproc.settings import Settings

    store = Store(Settings.load().effective_database_url)
    async with store.writing() as session:
        await (await session.connection()).run_sync(run)
    await store.close()


given = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    asyncio.run(run_alone())
