"""material_fetch: brings the PDF into the blob store, from S3 or from the request's own upload."""

from __future__ import annotations

from typing import ClassVar

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.materials import links, log
from docproc.apps.materials.errors import MaterialError
from docproc.apps.materials.order import WORKER, Order
from docproc.apps.materials.source import address
from docproc.apps.materials.stage import MaterialStage, onward
from docproc.apps.materials.tables import LinkStatus
from docproc.engine.component import Emission
from docproc.engine.message import PipelineMessage
from docproc.errors import TooLargeError

log_lines = structlog.get_logger(__name__)

_PDF = b"%PDF-"
_LOOKED_AT = 1024


class Fetch(MaterialStage):
    component_name: ClassVar[str] = "material_fetch"
    routing_key = "material.fetch"
    status = "fetching"

    async def setup(self) -> None:
        """`docproc up` and single workers do the work of the stages; events have a door of their own."""
        url = self.materials.materials_rabbitmq_url
        if url and self.settings.component_name != WORKER:
            log_lines.warning(
                "material_events_not_taken_here",
                queue=self.materials.materials_queue,
                remedy="run `docproc material worker` beside this: it takes the events of the queue",
            )

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        order = self.order(message)
        async with self.announced(message):
            key = await self._download(message, order) if order.source else _upload(message)
            await self._check(key)
        await links.say(
            session,
            message.tenant_id,
            order.material_id,
            LinkStatus.PROCESSING,
            request_id=message.request_id,
        )
        log.record(
            session,
            log.EventType.PROCESSING_STARTED,
            tenant_id=message.tenant_id,
            material_id=order.material_id,
            request_id=message.request_id,
            data={"source": order.source or "upload"},
        )
        return onward(message, blob_key=key)

    async def _download(self, message: PipelineMessage, order: Order) -> str:
        from docproc.apps.materials.source import s3  # its client, only where something lies there

        place = address.parse(order.source, endpoint=self.materials.materials_s3_endpoint)
        key = f"{message.request_id}/in/0-material.pdf"
        try:
            await self.blobs.put(key, s3.download(place, self.materials), max_bytes=self.materials.max_bytes)
        except TooLargeError as error:  # larger than the store said it was
            raise MaterialError(str(error.args[0]), code="too_large", remedy=error.remedy) from error
        return key

    async def _check(self, key: str) -> None:
        """By its first bytes: a name or a type can say anything."""
        async for piece in self.blobs.read(key):
            if _PDF in piece[:_LOOKED_AT]:
                return
            break
        raise MaterialError("the file is no PDF", code="no_pdf", remedy="Send a PDF")


def _upload(message: PipelineMessage) -> str:
    files = message.payload.get("files") or []
    if len(files) != 1:
        raise MaterialError(
            f"a material is one PDF, and {len(files)} files came",
            code="bad_order",
            remedy="Send each file by itself to POST /materials",
        )
    return str(files[0]["key"])
