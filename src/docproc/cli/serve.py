"""Services that are no stage of a flow, each a process of its own: API, station, SLA monitor, doors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from docproc.app import App
from docproc.doors.service import SERVICES as DOORS
from docproc.engine.deadlines.service import COMPONENT as SLA_MONITOR
from docproc.engine.deadlines.service import Service
from docproc.engine.running.health import HealthServer
from docproc.engine.running.measuring import MayMeasure
from docproc.engine.running.worker import unless_stopped
from docproc.http.exposure import check_api, check_station
from docproc.installed import require_extra
from docproc.settings import Settings

API_GATEWAY = "api_gateway"
BACKOFFICE = "backoffice"


def require_servers() -> None:
    """FastAPI is an extra: workers do without it."""
    require_extra("http", "fastapi", "a server with pages")


async def serve_api(settings: Settings, stopping: asyncio.Event) -> int:
    require_servers()
    check_api(settings, settings.host)
    from docproc.console.servers import gateway  # a third of what commands would import, and few need it
    from docproc.http.server import serve

    return await _serve(settings, stopping, partial(serve, create=gateway), settings.api_port)


async def serve_backoffice(settings: Settings, stopping: asyncio.Event) -> int:
    require_servers()
    check_station(settings, settings.host)
    from docproc.console.servers import station  # as above
    from docproc.people.station.app import serve

    return await _serve(settings, stopping, partial(serve, create=station), settings.backoffice_port)


async def _serve(
    settings: Settings, stopping: asyncio.Event, serve: Callable[..., Coroutine[Any, Any, None]], port: int
) -> int:
    """Health server first, then the database, then the pages, until `stopping`."""
    application = App(settings)
    is_prepared = False
    health = HealthServer(
        settings.host,
        settings.health_port,
        lambda: is_prepared and not stopping.is_set(),
        may_measure=MayMeasure(settings),
    )
    await health.start()
    try:
        is_prepared = await unless_stopped(application.prepare(), stopping)
        if is_prepared:
            await serve(application, stopping, host=settings.host, port=port)
        return 0
    finally:
        await health.close()
        await application.close()


async def serve_monitor(settings: Settings, stopping: asyncio.Event) -> int:
    """The same for the SLA monitor."""
    application = App(settings)
    service = Service(application)
    health = HealthServer(
        settings.host, settings.health_port, lambda: service.is_ready, may_measure=MayMeasure(settings)
    )
    await health.start()
    try:
        if await unless_stopped(application.prepare_database(wait=True), stopping):
            async with service.running():
                await stopping.wait()
        return 0
    finally:
        await health.close()
        await application.close()


# What DOCPROC_COMPONENT_NAME may say besides the components.
SERVICES: dict[str, Callable[[Settings, asyncio.Event], Coroutine[Any, Any, int]]] = {
    API_GATEWAY: serve_api,
    SLA_MONITOR: serve_monitor,
    BACKOFFICE: serve_backoffice,
    **DOORS,
}
