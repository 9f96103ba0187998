"""The schema that tests work on: the engine's, and that of every installed application."""

from __future__ import annotations

import docproc.alerts.tables
import docproc.http.access.tables
import docproc.people.tables  # noqa: F401 # so that the metadata is whole
from docproc.engine.store import migrate
from docproc.engine.store.session import Store
from docproc.installed import find_applications
from docproc.loaded import Applications

APPLICATIONS = Applications(find_applications().applications)
# So that the metadata is whole, whatever a test imports.
APPLICATIONS.import_tables()


async def upgrade(store: Store) -> None:
    await migrate.upgrade(store, APPLICATIONS.migrations)
