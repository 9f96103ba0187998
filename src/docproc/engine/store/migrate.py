"""Migrations, run by Alembic from the installed package on either database: the engine's chain, then those of
the applications (see `schema_version`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, text

from docproc.engine.store.schema_version import SCRIPTS, Branch
from docproc.engine.store.session import Store
from docproc.errors import ConfigurationError

# Any number will do, as long as every process that migrates uses the same one.
POSTGRES_LOCK = 0x646F6370


def config(connection: Connection | None = None) -> Config:
    """Of the engine's own chain."""
    found = Config()
    found.set_main_option("script_location", str(SCRIPTS))
    found.attributes["connection"] = connection
    return found


async def upgrade(store: Store, branches: Sequence[Branch] = (), revision: str = "head") -> None:
    """Bring the schema up to date; several processes may try at once, one does it."""

    def run(connection: Connection) -> None:
        try:
            command.upgrade(config(connection), revision)
            upgrade_branches(connection, branches)
        except CommandError as error:
            raise ConfigurationError(
                f"the database cannot be migrated: {error}",
                remedy="If a newer DocProc made it, use that version",
            ) from error

    async with store.writing() as session:
        connection = await session.connection()
        if not store.is_sqlite:  # SQLite's immediate transaction is lock enough
            await connection.execute(text(f"SELECT pg_advisory_xact_lock({POSTGRES_LOCK})"))
        await connection.run_sync(run)


async def downgrade(store: Store, branches: Sequence[Branch] = ()) -> None:
    """Remove every table. Nothing is kept."""

    def run(connection: Connection) -> None:
        downgrade_branches(connection, branches)
        command.downgrade(config(connection), "base")

    async with store.writing() as session:
        await (await session.connection()).run_sync(run)


def upgrade_branches(connection: Connection, branches: Sequence[Branch]) -> None:
    """The applications' tables, after the engine's, which they point at."""
    for branch in branches:
        chain = scripts(branch)
        _run(connection, branch, lambda found, _, chain=chain: chain._upgrade_revs("head", found))


def downgrade_branches(connection: Connection, branches: Sequence[Branch]) -> None:
    """The same, taken away before the engine's."""
    for branch in reversed(branches):
        chain = scripts(branch)
        _run(connection, branch, lambda found, _, chain=chain: chain._downgrade_revs("base", found))


def _run(connection: Connection, branch: Branch, steps: Callable[..., Any]) -> None:
    """As alembic.command does it, which cannot be used here: `alembic upgrade head` runs this inside the
    engine's own environment, and environments do not nest."""
    options = {"version_table": branch.version_table, "fn": steps}
    context = MigrationContext.configure(connection, opts=options)
    with Operations.context(context):
        context.run_migrations()


def scripts(branch: Branch | None) -> ScriptDirectory:
    if branch is None:
        return ScriptDirectory.from_config(config())
    return ScriptDirectory(str(SCRIPTS), version_locations=[str(branch.folder)])
