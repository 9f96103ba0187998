"""Migrations, run from the installed package on either database."""

from __future__ import annotations

import asyncio
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from docproc.engine.store.session import Store

SCRIPTS = Path(__file__).parent / "migrations"

# Any number will do, as long as every process that migrates uses the same one.
POSTGRES_LOCK = 0x646F6370


def config(connection: Connection | None = None) -> Config:
    found = Config()
    found.set_main_option("script_location", str(SCRIPTS))
    found.attributes["connection"] = connection
    return found


def head() -> str | None:
    return ScriptDirectory.from_config(config()).get_current_head()


async def upgrade(store: Store, revision: str = "head") -> None:
    """Bring the schema up to date; several processes may try at once, one does it."""
    async with store.writing() as session:
        connection = await session.connection()
        if not store.is_sqlite:  # SQLite's immediate transaction is lock enough
            await connection.execute(text(f"SELECT pg_advisory_xact_lock({POSTGRES_LOCK})"))
        await connection.run_sync(lambda sync: command.upgrade(config(sync), revision))


async def current(store: Store) -> str | None:
    async with store.reading() as session:
        connection = await session.connection()
        return await connection.run_sync(lambda c: MigrationContext.configure(c).get_current_revision())


async def is_current(store: Store) -> bool:
    """Whether this program can work on the schema: it is as new as this program knows, or newer.

    Newer is fine because migrations leave what older workers need until those are gone.
    """
    found = await current(store)
    return found is not None and (found == await asyncio.to_thread(head) or not _knows(found))


def _knows(revision: str) -> bool:
    scripts = ScriptDirectory.from_config(config()).walk_revisions()
    return revision in {script.revision for script in scripts}
