"""Which store the settings ask for."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.materials.settings import MaterialsSettings
from docproc.apps.materials.store import MaterialStore
from docproc.apps.materials.stores.database import DatabaseStore
from docproc.engine.store.session import Store
from docproc.settings import Settings


def open_store(settings: Settings, store: Store) -> MaterialStore:
    """Connects to nothing yet; `prepare` does."""
    materials = settings.section(MaterialsSettings)
    if materials.materials_mongodb_url is None:
        return DatabaseStore(store)
    from docproc.apps.materials.stores.mongodb import MongoStore  # its driver, only where it is used

    return MongoStore.create(materials)


async def remove_elsewhere(session: AsyncSession, tenant_id: str, material_id: str) -> None:
    """A material's documents in a database that is not the engine's, where the settings name one."""
    materials = Settings.load().section(MaterialsSettings)
    if materials.materials_mongodb_url is None:
        return
    from docproc.apps.materials.stores.mongodb import MongoStore

    store = MongoStore.create(materials)
    try:
        await store.remove(session, tenant_id, material_id)
    finally:
        await store.close()
