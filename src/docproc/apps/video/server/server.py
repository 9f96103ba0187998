"""The video server: clients, the films they send, and tidying, in one process."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog
from sqlalchemy.exc import SQLAlchemyError

from docproc.app import App
from docproc.apps.video.cleaning import clean, live_sessions
from docproc.apps.video.server.connection import House
from docproc.apps.video.server.films import COMPONENT, Films
from docproc.apps.video.server.listener import Listener
from docproc.apps.video.settings import VideoSettings, sessions_of
from docproc.engine.deadlines.service import Service
from docproc.engine.running.health import HealthServer
from docproc.engine.running.worker import Worker, unless_stopped
from docproc.settings import Settings

log = structlog.get_logger(__name__)

CLEAN_SECONDS = 600.0


class Server:
    """The life of the server reads from top to bottom in `run`."""

    def __init__(self, settings: Settings, bind: str, port: int) -> None:
        self.settings = settings
        self.video = settings.section(VideoSettings)
        self.sessions = sessions_of(settings)
        self.sessions.prepare()
        self.application = App(settings)
        self.worker: Worker = self.application.worker([COMPONENT])
        house = House(self.video, self.sessions, Films(self.application), settings.allow_open)
        self.listener = Listener(house, bind, port)

    @property
    def is_ready(self) -> bool:
        return self.worker.is_ready

    async def run(self, stopping: asyncio.Event) -> None:
        """Until `stopping` is set; films that are not done then go on with the next server."""
        health = HealthServer(self.settings.host, self.settings.health_port, lambda: self.is_ready)
        await health.start()
        try:
            if not await unless_stopped(self.application.prepare_database(wait=True), stopping):
                return
            async with self._deadlines(), self._tidying():
                working = asyncio.create_task(self.worker.run(stopping))
                await self.listener.start()
                log.info("video_server_ready", port=self.listener.port, data=str(self.sessions.folder))
                await working
        finally:
            await self.listener.close()
            await health.close()
            await self.application.close()

    @asynccontextmanager
    async def _deadlines(self) -> AsyncIterator[None]:
        """Embedded, the server keeps deadlines, too; elsewhere the monitor is a process of its own."""
        if not self.settings.is_embedded:
            yield
            return
        watching = App(self.settings)
        try:
            async with Service(watching).running():
                yield
        finally:
            await watching.close()

    @asynccontextmanager
    async def _tidying(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self._keep_tidy())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _keep_tidy(self) -> None:
        while True:
            with contextlib.suppress(SQLAlchemyError, OSError):
                live = await live_sessions(self.application, self.sessions)
                gone = await asyncio.to_thread(clean, self.sessions, self.video, live)
                if gone:
                    log.info("sessions_removed", sessions=len(gone))
            await asyncio.sleep(CLEAN_SECONDS)
