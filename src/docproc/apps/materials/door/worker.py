"""The material worker: every stage of a material, and the door where a broker is set, in one process."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import structlog
from sqlalchemy.exc import SQLAlchemyError

from docproc.app import App
from docproc.apps.materials import log as material_log
from docproc.apps.materials.application import application as manifest
from docproc.apps.materials.door.broker import Broker
from docproc.apps.materials.door.door import Door
from docproc.apps.materials.door.endings import Endings, telling
from docproc.apps.materials.door.notifier import Notifier
from docproc.apps.materials.settings import MaterialsSettings
from docproc.engine.deadlines.service import Service
from docproc.engine.running.health import HealthServer
from docproc.engine.running.measuring import MayMeasure
from docproc.engine.running.worker import unless_stopped
from docproc.settings import Settings

log = structlog.get_logger(__name__)

ROUTER = "workflow_router"
_TIDY_SECONDS = 3600.0


class MaterialWorker:
    """The life of the process reads from top to bottom in `run`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.materials = settings.section(MaterialsSettings)
        self.application = App(settings)
        names = [component.name for component in manifest.components]
        self.worker = self.application.worker([ROUTER, *names])
        self.endings = Endings()
        policies, tells = self.worker.policies, telling(self.endings, names[-1])
        self.worker.policies = replace(policies, middleware=(tells, *policies.middleware))
        url = self.materials.materials_rabbitmq_url or settings.rabbitmq_url
        self.broker = (
            Broker(url, self.materials.materials_queue, self.materials.materials_dead_letter_queue)
            if url
            else None
        )

    @property
    def is_ready(self) -> bool:
        """The stages are warm, and events arrive where they should."""
        return self.worker.is_ready and (self.broker is None or self.broker.is_consuming)

    async def run(self, stopping: asyncio.Event) -> None:
        """Until `stopping` is set; the event in hand is finished, or goes back to the queue."""
        health = HealthServer(
            self.settings.host,
            self.settings.health_port,
            lambda: self.is_ready,
            may_measure=MayMeasure(self.settings),
        )
        await health.start()
        try:
            if not await unless_stopped(self.application.prepare(), stopping):
                return
            telling = Notifier(self.application).run()
            async with self._deadlines(), self._doing(self._keep_tidy()), self._doing(telling):
                await self._work(stopping)
        finally:
            await health.close()
            await self.application.close()

    async def _work(self, stopping: asyncio.Event) -> None:
        """The door closes first: what it let in is finished by the stages behind it, as far as there is
        time."""
        if self.broker is None:
            return await self.worker.run(stopping)
        door = Door(self.application, self.broker, self.endings)
        door_closed = asyncio.Event()
        stages = asyncio.create_task(self.worker.run(door_closed))
        taking = asyncio.create_task(door.run())
        stop = asyncio.create_task(stopping.wait())
        try:
            await asyncio.wait({stages, taking, stop}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            door.stop()
            stop.cancel()
            await asyncio.wait({taking}, timeout=self.settings.shutdown_seconds)
            taking.cancel()
            door_closed.set()
            results = await asyncio.gather(stages, taking, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception):
                raise result

    @asynccontextmanager
    async def _deadlines(self) -> AsyncIterator[None]:
        """Embedded, the worker keeps deadlines, too; elsewhere the monitor is a process of its own."""
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
    async def _doing(self, job: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
        task = asyncio.create_task(job)
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _keep_tidy(self) -> None:
        while True:
            with contextlib.suppress(SQLAlchemyError, OSError):
                async with self.application.store.writing() as session:
                    gone = await material_log.sweep(session, self.materials.materials_event_days)
                if gone:
                    log.info("material_events_swept", events=gone)
            await asyncio.sleep(_TIDY_SECONDS)
