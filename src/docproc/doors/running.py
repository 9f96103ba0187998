"""A door as a process of its own: what `DOCPROC_COMPONENT_NAME=folder_door` runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from docproc.app import App
from docproc.application import load
from docproc.doors.door import Door
from docproc.doors.service import DOORS
from docproc.engine.running.health import HealthServer
from docproc.engine.running.measuring import MayMeasure
from docproc.engine.running.worker import unless_stopped
from docproc.http.callbacks.sender import Sender
from docproc.http.gateway import Job, taking_in
from docproc.installed import require_extra
from docproc.settings import Settings

# Packages that only one door needs, and the extras that bring them.
_PACKAGES = {
    "sftp_door": ("doors", "asyncssh"),
    "smtp_door": ("doors", "aiosmtpd"),
    "bucket_door": ("s3", "obstore"),
}


def make(name: str, application: App) -> Door:
    """Raises ConfigurationError where a package is missing or a setting cannot be used."""
    for extra, package in (("http", "fastapi"), _PACKAGES.get(name, ("http", "fastapi"))):
        require_extra(extra, package, f"the door {name}")
    door: Door = load(DOORS[name][0])(application)
    return door


@asynccontextmanager
async def opened(door: Door) -> AsyncIterator[None]:
    """The door, what publishes that which comes in by it, and what delivers its answers, inside the block."""
    await door.prepare()
    jobs: list[Job] = [door.run]
    if posting := door.poster():
        poster, only = posting
        application = door.application
        name = f"{application.worker_id[:80]}:{door.channel}"
        jobs.append(Sender(application.store, poster, name, only=only).run)
    async with taking_in(door.application, door.name, jobs):
        yield


async def serve(name: str, settings: Settings, stopping: asyncio.Event) -> int:
    """Health server first, then the database, then the door, until `stopping`."""
    application = App(settings)
    door = make(name, application)
    health = HealthServer(
        settings.host,
        settings.health_port,
        lambda: door.is_ready and not stopping.is_set(),
        may_measure=MayMeasure(settings),
    )
    await health.start()
    try:
        if await unless_stopped(application.prepare(), stopping):
            async with opened(door):
                await stopping.wait()
        return 0
    finally:
        await health.close()
        await application.close()
