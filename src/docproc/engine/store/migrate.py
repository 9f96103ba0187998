"""Migrations, run from the installed package on either database.

The engine has one chain of migrations, each application another. Each chain keeps its place in a table of its
own (`alembic_version`, `alembic_version_<application>`), so that `head` always is one revision, and an older
release that knows nothing of applications still finds its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from docproc.engine.store.session import Store

SCRIPTS = Path(__file__).parent / "migrations"

# Any number will do, as long as every process that migrates uses the same one.
POSTGRES_LOCK = 0x646F6370


@dataclass(frozen=True, slots=True)
class Branch:
    """The migrations of an application."""

    application: str
    folder: Path

    @property
    def version_table(self) -> str:
        return f"alembic_version_{self.application}"


def config(connection: Connection | None = None) -> Config:
    """Of the engine's own chain."""
    found = Config()
    found.set_main_option("script_location", str(SCRIPTS))
    found.attributes["connection"] = connection
    return found


def head(branch: Branch | None = None) -> str | None:
    return _scripts(branch).get_current_head()


async def upgrade(store: Store, branches: Sequence[Branch] = (), revision: str = "head") -> None:
    """Bring the schema up to date; several processes may try at once, one does it."""

    def run(connection: Connection) -> None:
        command.upgrade(config(connection), revision)
        upgrade_branches(connection, branches)

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
        scripts = _scripts(branch)
        _run(connection, branch, lambda found, _, scripts=scripts: scripts._upgrade_revs("head", found))


def downgrade_branches(connection: Connection, branches: Sequence[Branch]) -> None:
    """The same, taken away before the engine's."""
    for branch in reversed(branches):
        scripts = _scripts(branch)
        _run(connection, branch, lambda found, _, scripts=scripts: scripts._downgrade_revs("base", found))


def _run(connection: Connection, branch: Branch, steps: Callable[..., Any]) -> None:
    """As alembic.command does it, which cannot be used here: `alembic upgrade head` runs this inside the
    engine's own environment, and environments do not nest."""
    options = {"version_table": branch.version_table, "fn": steps}
    context = MigrationContext.configure(connection, opts=options)
    with Operations.context(context):
        context.run_migrations()


async def current(store: Store, branch: Branch | None = None) -> str | None:
    def read(connection: Connection) -> str | None:
        return _context(connection, branch).get_current_revision()

    async with store.reading() as session:
        return await (await session.connection()).run_sync(read)


async def is_current(store: Store, branches: Sequence[Branch] = ()) -> bool:
    """Whether this program can work on the schema: it is as new as this program knows, or newer.

    Newer is fine because migrations leave what older workers need until those are gone.
    """
    for branch in (None, *branches):
        found = await current(store, branch)
        if found is None or not await asyncio.to_thread(_is_enough, found, branch):
            return False
    return True


def _is_enough(found: str, branch: Branch | None) -> bool:
    scripts = _scripts(branch)
    known = {script.revision for script in scripts.walk_revisions()}
    return found == scripts.get_current_head() or found not in known


def _scripts(branch: Branch | None) -> ScriptDirectory:
    if branch is None:
        return ScriptDirectory.from_config(config())
    return ScriptDirectory(str(SCRIPTS), version_locations=[str(branch.folder)])


def _context(connection: Connection, branch: Branch | None) -> MigrationContext:
    options = {"version_table": branch.version_table} if branch else {}
    return MigrationContext.configure(connection, opts=options)
