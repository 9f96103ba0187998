"""The schema that tests work on: the engine's, and that of every installed application."""

from __future__ import annotations

from docproc.engine.store import migrate
from docproc.engine.store.session import Store
from docproc.installed import find_applications
from docproc.loaded import Applications

APPLICATIONS = Applications(find_applications().applications)


async def upgrade(store: Store) -> None:
    await migrate.upgrade(store, APPLICATIONS.migrations)
