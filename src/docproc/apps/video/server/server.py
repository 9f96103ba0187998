"""The video server: clients, the films they send, and tidying, in one process."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

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
from docproc.harmless import text_for_logs
from docproc.http.callbacks.secret import check_settings
from docproc.http.callbacks.sender import send_answers
from docproc.settings import Settings

log = structlog.get_logger(__name__)

CLEAN_SECONDS = 600.0


class Server:
    """The life of the server reads from top to bottom in `run`."""

    def __init__(self, settings: Settings, bind: str, port: int) -> None:
        check_settings(settings)
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
            async with self._alone(), self._tidying():
                working = asyncio.create_task(self.worker.run(stopping))
                await self.listener.start()
                log.info("video_server_ready", port=self.listener.port, data=str(self.sessions.folder))
                await working
        finally:
            await self.listener.close()
            await health.close()
            await self.application.close()

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """Embedded, there may be nobody else: the server keeps deadlines and sends answers to callbacks, too.
        Elsewhere these are processes of their own (`sla_monitor`, `api_gateway`)."""
        if not self.settings.is_embedded:
            yield
            return
        watching = App(self.settings)
        try:
            sending = send_answers(self.settings, watching.store, watching.worker_id)
            async with Service(watching).running(), _beside(sending):
                yield
        finally:
            await watching.close()

    @asynccontextmanager
    async def _tidying(self) -> AsyncIterator[None]:
        async with _beside(self._keep_tidy()):
            yield

    async def _keep_tidy(self) -> None:
        while True:
            with contextlib.suppress(SQLAlchemyError, OSError):
                live = await live_sessions(self.application, self.sessions)
                gone = await asyncio.to_thread(clean, self.sessions, self.video, live)
                if gone:
                    log.info("sessions_removed", sessions=len(gone))
            await asyncio.sleep(CLEAN_SECONDS)


@asynccontextmanager
async def _beside(job: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """It runs meanwhile, and ends with the block."""
    task = asyncio.create_task(job)
    task.add_done_callback(_say_why)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _say_why(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("job_ended", problem=text_for_logs(error))
