"""The door: takes one event after the other, and settles each when nothing of it can be lost any more."""

from __future__ import annotations

import asyncio
from uuid import UUID

import structlog
from sqlalchemy.exc import SQLAlchemyError

from docproc.app import App
from docproc.apps.materials import events
from docproc.apps.materials.door.broker import Arrived, Broker
from docproc.apps.materials.door.endings import Endings
from docproc.apps.materials.door.holding import Standing, look, until_safe
from docproc.apps.materials.door.intake import EventIntake
from docproc.apps.materials.door.letters import HEADER, Letters
from docproc.apps.materials.errors import MaterialError
from docproc.apps.materials.metrics import DELIVERIES
from docproc.apps.materials.settings import MaterialsSettings
from docproc.errors import QuotaError, ReusedKeyError, TransportError, UnknownTenantError, WorkflowError
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

# Marks an event that somebody sent again on purpose.
REPLAYED = HEADER + "replayed"
# While a request cannot be written, its event goes back to the queue, but not at once: that would be a hot
# loop.
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 30.0


class Door:
    """One event at a time, as its prefetch says. What is acknowledged here is in both stores, or in a row
    that
    the engine carries on by itself."""

    def __init__(self, application: App, broker: Broker, endings: Endings) -> None:
        self.application = application
        self.broker = broker
        self.endings = endings
        self.letters = Letters(application, broker)
        self.intake = EventIntake(application)
        self.bucket = application.settings.section(MaterialsSettings).materials_bucket
        self.stopping = asyncio.Event()
        self._pause = _FIRST_PAUSE

    def stop(self) -> None:
        """The event in hand is finished where that does not take long; the next worker gets what is left."""
        self.stopping.set()
        self.endings.tell_all()
        self.broker.stop()

    async def run(self) -> None:
        """Until stopped."""
        telling = asyncio.create_task(self.letters.run())
        try:
            async for arrived in self.broker.arrivals():
                await self._take(arrived)
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)
            await self.broker.close()

    async def _take(self, arrived: Arrived) -> None:
        try:
            event = events.read(arrived.body, bucket=self.bucket)
            standing = await self._hold(arrived, event)
        except MaterialError as error:
            log.error("material_event_refused", problem=text_for_logs(error), redelivered=arrived.redelivered)
            await self._refuse(arrived, error)
        except (SQLAlchemyError, OSError, TransportError, QuotaError) as error:
            await self._give_back(arrived, error)
        else:
            self._pause = _FIRST_PAUSE
            await self._settle(arrived, standing)

    async def _hold(self, arrived: Arrived, event: events.Uploaded) -> Standing:
        """Raises MaterialError for what no request can be made of."""
        try:
            request_id, is_new = await self.intake.submit(
                event, arrived.body, self.broker.queue, seen=arrived.redelivered
            )
        except ReusedKeyError as error:
            raise MaterialError(
                "this event id came before, with another content", code="reused_event_id", remedy=error.remedy
            ) from error
        except (UnknownTenantError, WorkflowError) as error:
            raise MaterialError(str(error.args[0]), code="refused", remedy=error.remedy) from error
        log.info(
            "material_event_taken",
            request_id=str(request_id),
            material_id=event.order.material_id,
            repeated=not is_new,
            redelivered=arrived.redelivered,
        )
        if not is_new and self._is_wanted_again(arrived):
            await self._resume(request_id)
        standing = await until_safe(
            self.application.store, request_id, self.stopping, self.endings, is_new=is_new
        )
        if standing is Standing.FAILED:
            await self.letters.publish_all(request_id)
        return standing

    def _is_wanted_again(self, arrived: Arrived) -> bool:
        """A copy that the broker repeats is no wish; one that somebody sent is, where the first one
        failed."""
        return REPLAYED in arrived.headers or not arrived.redelivered

    async def _resume(self, request_id: UUID) -> None:
        if await look(self.application.store, request_id) is Standing.FAILED:
            await self.intake.resume(request_id)

    async def _settle(self, arrived: Arrived, standing: Standing) -> None:
        DELIVERIES.labels(standing).inc()
        match standing:
            case Standing.STORED | Standing.WAITING:
                await self.broker.ack(arrived)
            case Standing.FAILED:
                await self.broker.reject(arrived, requeue=False)
            case Standing.UNDER_WAY:  # stopping: whoever gets it next finds the request and holds it on
                await self.broker.reject(arrived, requeue=True)

    async def _refuse(self, arrived: Arrived, error: MaterialError) -> None:
        try:
            await self.letters.refuse(arrived, error)
        except (TransportError, SQLAlchemyError, OSError) as trouble:
            return await self._give_back(arrived, trouble)
        DELIVERIES.labels("refused").inc()
        await self.broker.reject(arrived, requeue=False)

    async def _give_back(self, arrived: Arrived, error: Exception) -> None:
        """The row that would carry it on cannot be written now: no database, or no quota left."""
        log.warning("material_event_given_back", problem=text_for_logs(error), after_s=self._pause)
        try:
            await asyncio.wait_for(self.stopping.wait(), self._pause)
        except TimeoutError:
            pass
        self._pause = min(self._pause * 2, _LONGEST_PAUSE)
        DELIVERIES.labels("given_back").inc()
        await self.broker.reject(arrived, requeue=True)
