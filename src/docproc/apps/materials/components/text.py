"""material_text: the text of the PDF, page by page, by text layer or OCR; too little of it is no material."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.materials.content.chapters import with_chapters
from docproc.apps.materials.content.source import SourceText
from docproc.apps.materials.errors import MaterialError
from docproc.apps.materials.source import reading
from docproc.apps.materials.source.cleaning import count_words
from docproc.apps.materials.stage import MaterialStage, onward
from docproc.engine.component import Emission, Where
from docproc.engine.message import PipelineMessage


@dataclass(frozen=True, slots=True)
class _Read:
    """A text as it is kept (JSON), and what there is to say of it."""

    source: bytes
    pages: int
    words: int
    reader: str
    ocr_pages: int


class Text(MaterialStage):
    component_name: ClassVar[str] = "material_text"
    routing_key = "material.text"
    status = "reading"
    runs_in = Where.PROCESSES

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        order = self.order(message)
        async with self.announced(message):
            found = await self._read(message, order.title)
            key = f"{message.request_id}/text/source.json"
            await self.blobs.put(key, _pieces(found.source))
        return onward(
            message,
            text_key=key,
            pages=found.pages,
            words=found.words,
            reader=found.reader,
            ocr_pages=found.ocr_pages,
        )

    async def _read(self, message: PipelineMessage, title: str) -> _Read:
        materials = self.materials
        path = await self.blobs.fetch(message.payload["blob_key"])
        with self.blobs.scratch() as folder:
            copy = folder / "mended.pdf"
            limits = (materials.materials_max_pages, materials.materials_least_words)
            layer, source = await self.offload(_read_layer, path, copy, limits, title)
            pages = list(layer.pages)
            # A call each: what takes a second a page can be cut off between them.
            for index in layer.doubtful:
                engine, known = materials.materials_ocr_engine, pages[index]
                pages[index] = await self.offload(reading.recognised, layer.path, index, engine, known)
        words = sum(map(count_words, pages))
        self._check_length(words)
        source = source or await self.offload(_source, pages, title)
        return _Read(source, len(pages), words, layer.reader, len(layer.doubtful))

    def _check_length(self, words: int) -> None:
        least = self.materials.materials_least_words
        if words < least:
            raise MaterialError(
                f"the text has {words} words; a summary needs at least {least}",
                code="too_short",
                remedy="Send the whole material; a scan must be sharp enough to be read",
            )


def _read_layer(path: Path, copy: Path, limits: tuple[int, int], title: str) -> tuple[reading.Layer, bytes]:
    """In a child process, in one call: what OCR need not look at is done, chapters and all."""
    layer = reading.read_layer(path, copy, *limits)
    return layer, b"" if layer.doubtful else _source(list(layer.pages), title)


def _source(pages: list[str], title: str) -> bytes:
    """In a child process: looking for headings in a long book takes a moment."""
    return with_chapters(SourceText.of_pages(pages, title)).model_dump_json().encode()


async def _pieces(content: bytes) -> AsyncIterator[bytes]:
    yield content
