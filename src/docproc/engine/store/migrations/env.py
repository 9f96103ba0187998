"""Alembic's entry: migrate the connection handed over, or the database of the settings."""

from __future__ import annotations

import asyncio

from alembic import context
from sqlalchemy import Connection

from docproc.engine.store import migrate
from docproc.engine.store.tables import Base


def run(connection: Connection) -> None:
    context.configure(connection=connection, target_metadata=Base.metadata, transaction_per_migration=False)
    with context.begin_transaction():
        context.run_migrations()


async def run_alone() -> None:
    """`alembic upgrade head` on its own, as the specification's manual has it: with every application."""
    from docproc.engine.store.session import Store
    from docproc.installed import find_applications
    from docproc.loaded import Applications
    from docproc.settings import Settings

    settings = Settings.load()
    branches = Applications(find_applications().chosen(settings.applications)).migrations

    def run_all(connection: Connection) -> None:
        wanted = context.get_revision_argument()
        if not wanted:  # down to nothing
            migrate.downgrade_branches(connection, branches)
        run(connection)
        if wanted == context.get_head_revision():
            migrate.upgrade_branches(connection, branches)

    store = Store(settings.effective_database_url)
    async with store.writing() as session:
        await (await session.connection()).run_sync(run_all)
    await store.close()


given = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    asyncio.run(run_alone())
