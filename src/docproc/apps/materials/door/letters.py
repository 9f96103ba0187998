"""The broker's dead-letter queue: events that failed for good, with their original bytes and all that is
known."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from typing import Any
from uuid import UUID, uuid4

import orjson
import structlog
from sqlalchemy import select, update

from docproc.app import App
from docproc.apps.materials.door.broker import Arrived, Broker
from docproc.apps.materials.errors import MaterialError
from docproc.apps.materials.tables import MaterialFailure
from docproc.engine.message import utc_now
from docproc.engine.store.session import until_passed
from docproc.errors import TransportError
from docproc.harmless import text_for_events

log = structlog.get_logger(__name__)

HEADER = "x-docproc-"
_SWEEP_SECONDS = 1.0
_LONGEST_HEADER = 2000


class Letters:
    """Publishes failures until the broker has confirmed each; a crash in between publishes one twice, with
    the
    same message id."""

    def __init__(self, application: App, broker: Broker) -> None:
        self.application = application
        self.broker = broker
        self._lock = asyncio.Lock()

    async def run(self) -> None:
        """For ever: those that fail after their delivery was settled are found here."""
        while True:
            with contextlib.suppress(TransportError):
                await until_passed(self.publish_all)
            await asyncio.sleep(_SWEEP_SECONDS)

    async def publish_all(self, request_id: UUID | None = None) -> None:
        """Whatever is not there yet; raises TransportError while the broker takes nothing."""
        async with self._lock:
            query = select(MaterialFailure).where(
                MaterialFailure.published_at.is_(None), MaterialFailure.body.is_not(None)
            )
            if request_id is not None:
                query = query.where(MaterialFailure.request_id == request_id)
            async with self.application.store.reading() as session:
                failures = list(await session.scalars(query.order_by(MaterialFailure.failed_at).limit(100)))
            for failure in failures:
                await self._publish(failure)

    async def _publish(self, failure: MaterialFailure) -> None:
        await self.broker.publish(
            self.broker.dead_letter_queue,
            failure.body or b"",
            message_id=str(failure.id),
            headers=_headers(failure, self.broker.queue),
        )
        async with self.application.store.writing() as session:
            await session.execute(
                update(MaterialFailure).where(MaterialFailure.id == failure.id).values(published_at=utc_now())
            )
        log.error(
            "material_dead_lettered",
            material_id=failure.material_id,
            request_id=str(failure.request_id) if failure.request_id else None,
            code=failure.code,
            reason=failure.reason,
            attempts=failure.attempts,
            queue=self.broker.dead_letter_queue,
        )

    async def refuse(self, arrived: Arrived, error: MaterialError) -> None:
        """An event that no request can be made of: kept, and published at once."""
        digest = hashlib.sha256(arrived.body).hexdigest()
        now = utc_now()
        failure = MaterialFailure(
            id=uuid4(),
            code=error.code,
            reason=text_for_events(error),
            attempts=1,
            history=[
                {"attempt": 1, "at": now.isoformat(), "error": text_for_events(error), "sha256": digest}
            ],
            body=arrived.body,
            failed_at=now,
        )

        async def keep() -> None:
            async with self.application.store.writing() as session:
                session.add(failure)

        await until_passed(keep)
        await self.publish_all()


def _headers(failure: MaterialFailure, queue: str) -> dict[str, Any]:
    history = failure.history or []
    said = {
        "reason": failure.reason[:_LONGEST_HEADER],
        "code": failure.code,
        "attempts": failure.attempts,
        "first-failed-at": history[0]["at"] if history else failure.failed_at.isoformat(),
        "last-failed-at": failure.failed_at.isoformat(),
        "history": orjson.dumps(history).decode()[:_LONGEST_HEADER],
        "queue": queue,
        "request-id": str(failure.request_id or ""),
        "material-id": failure.material_id or "",
    }
    return {HEADER + name: value for name, value in said.items()}
