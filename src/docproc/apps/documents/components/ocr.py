"""ocr: the text of a page, from its text layer where that can be trusted, else by recognition."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.components.page_jobs import PageToRead, ReadPage, read, read_layers, rehearse
from docproc.apps.documents.settings import DocumentsSettings
from docproc.apps.documents.statuses import DocumentsStatus
from docproc.apps.documents.store import pages
from docproc.apps.documents.tables import PageStatus
from docproc.engine.component import NEXT, BatchComponent, Context, Emission, Where
from docproc.engine.message import PipelineMessage
from docproc.errors import PermanentError

# A page's reading takes some kilobytes, and is used soon or never.
REMEMBERED = 256


class Ocr(BatchComponent):
    """Stage options: `engine` (else DOCPROC_OCR_ENGINE) and `mode`: auto, ocr or text.

    Pages with a text layer take milliseconds and are handled many at a time; recognition takes a second, so
    such pages stay in the queue for whoever is free.
    """

    component_name = "ocr"
    takes = "page"
    status = DocumentsStatus.PROCESSING
    runs_in = Where.PROCESSES
    batch = 16
    chooses = True

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        # What `choose` found out: readings until they are used, and the pages that need recognition.
        self._readings: OrderedDict[UUID, ReadPage] = OrderedDict()
        self._heavy: OrderedDict[UUID, None] = OrderedDict()
        if self.settings.warm_up:
            self.warm_children(rehearse, self.settings.section(DocumentsSettings).ocr_engine)

    async def setup(self) -> None:
        if self.settings.warm_up:  # starts the children, and says so when the engine is not installed
            await self.offload(rehearse, self.settings.section(DocumentsSettings).ocr_engine)

    async def choose(self, messages: Sequence[PipelineMessage]) -> Sequence[PipelineMessage]:
        unknown = [
            m for m in messages if m.message_id not in self._readings and m.message_id not in self._heavy
        ]
        places = [await self._place(message) for message in unknown]
        for message, layer in zip(unknown, await self.offload(read_layers, places), strict=True):
            if layer is None:
                _remember(self._heavy, message.message_id, None)
            else:
                _remember(self._readings, message.message_id, layer)
        if messages[0].message_id not in self._readings:
            return messages[:1]
        return [message for message in messages if message.message_id in self._readings]

    async def process_messages(
        self, messages: Sequence[PipelineMessage], session: AsyncSession
    ) -> list[list[Emission]]:
        readings = [await self._reading_of(message) for message in messages]
        await pages.change_many(
            session,
            [
                {
                    "id": pages.page_id(message.request_id, message.page_index or 0),
                    "status": PageStatus.READ,
                    "ocr_text": reading.text,
                    "ocr_confidence": reading.confidence,
                    "rotation": reading.rotation,
                    "words": reading.words,
                }
                for message, reading in zip(messages, readings, strict=True)
            ],
        )
        return [[_onward(message, reading)] for message, reading in zip(messages, readings, strict=True)]

    async def _reading_of(self, message: PipelineMessage) -> ReadPage:
        if message.message_id in self._readings:
            return self._readings.pop(message.message_id)
        if problem := message.payload.get("problem"):  # a file that could not be opened
            raise PermanentError(problem)
        return await self.offload(read, await self._place(message))

    async def _place(self, message: PipelineMessage) -> PageToRead | None:
        """Where the page lies and how it is to be read; None for a file that could not be opened."""
        key = message.payload.get("blob_key")
        if key is None:
            return None
        options = (await self.stage_of(message)).options
        return PageToRead(
            await self.blobs.fetch(key),
            message.payload["file_page"],
            options.get("engine", self.settings.section(DocumentsSettings).ocr_engine),
            options.get("mode", "auto"),
        )


def _onward(message: PipelineMessage, page: ReadPage) -> Emission:
    payload = {
        **message.payload,
        "ocr_text": page.text,
        "ocr_confidence": page.confidence,
        "text_source": page.source,
    }
    return NEXT, message.model_copy(update={"payload": payload})


def _remember(where: OrderedDict[UUID, Any], key: UUID, value: Any) -> None:
    where[key] = value
    while len(where) > REMEMBERED:
        where.popitem(last=False)
