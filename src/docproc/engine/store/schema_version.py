"""Which migrations a database has, and which ones this program knows.

Every process asks this when it starts. It is answered without Alembic, whose import takes a fifth of a
worker's start: after the crash of a whole host all of its processes start at once, and that fifth is counted
in seconds. Migrating itself is `migrate`, and Alembic's.

The engine has one chain of migrations, each application another. Each chain keeps its place in a table of its
own (`alembic_version`, `alembic_version_<application>`), so that `head` always is one revision, and an older
release that knows nothing of applications still finds its own.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from docproc.engine.store.session import Store

SCRIPTS = Path(__file__).parent / "migrations"
_REVISION = re.compile(r"""^(down_)?revision\b[^=\n]*=\s*["']([^"']+)["']""", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Branch:
    """The migrations of an application."""

    application: str
    folder: Path

    @property
    def version_table(self) -> str:
        return f"alembic_version_{self.application}"


@dataclass(frozen=True, slots=True)
class Chain:
    """The revisions of one folder, read off its files without running them."""

    known: frozenset[str]
    head: str | None

    @classmethod
    def of(cls, branch: Branch | None) -> Chain:
        folder = branch.folder if branch else SCRIPTS / "versions"
        known: set[str] = set()
        replaced: set[str] = set()
        for script in folder.glob("*.py"):
            for is_down, name in _REVISION.findall(script.read_text(encoding="utf-8")):
                (replaced if is_down else known).add(name)
        return cls(frozenset(known), next(iter(known - replaced), None))


def head(branch: Branch | None = None) -> str | None:
    """The newest revision this program knows."""
    return Chain.of(branch).head


async def current(store: Store, branch: Branch | None = None) -> str | None:
    """The revision the database has; None where nothing was ever migrated."""
    table = branch.version_table if branch else "alembic_version"

    def read(connection: Connection) -> str | None:
        if not inspect(connection).has_table(table):
            return None
        found: str | None = connection.execute(text(f"SELECT version_num FROM {table}")).scalar()
        return found

    async with store.reading() as session:
        return await (await session.connection()).run_sync(read)


async def is_current(store: Store, branches: Sequence[Branch] = ()) -> bool:
    """Whether this program can work on the schema: it is as new as this program knows, or newer.

    Newer is fine because migrations leave what older workers need until those are gone.
    """
    for branch in (None, *branches):
        found = await current(store, branch)
        chain = await asyncio.to_thread(Chain.of, branch)
        if found is None or (found != chain.head and found in chain.known):
            return False
    return True


async def is_head(store: Store, branches: Sequence[Branch] = ()) -> bool:
    """Whether every chain stands exactly where this program's ends, so that there is nothing to migrate."""
    for branch in (None, *branches):
        if await current(store, branch) != await asyncio.to_thread(head, branch):
            return False
    return True
