"""Which port a service process uses, by the settings."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from docproc.application import load
from docproc.apps.orchestrator.services.port import ServicePort
from docproc.apps.orchestrator.services.wires.sql import SqlPort
from docproc.apps.orchestrator.settings import wire_name
from docproc.engine.store.session import Store
from docproc.engine.store.workers import new_worker_id
from docproc.settings import Settings

_REDIS = "docproc.apps.orchestrator.services.wires.redis:RedisPort"


@asynccontextmanager
async def port_of(settings: Settings, service: str) -> AsyncIterator[ServicePort]:
    """The service's end of the wire that the settings name; not opened yet."""
    name = f"{service}-{new_worker_id()}"
    if wire_name(settings) == "redis":
        port: ServicePort = load(_REDIS).create(settings, name)
        yield port
        return
    store = Store(settings.effective_database_url, connections=2)
    try:
        yield SqlPort(store, name=name)
    finally:
        await store.close()
