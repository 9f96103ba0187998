"""splitter: the request's files become pages. A page is (blob, index in the file): nothing is copied."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.rehearsal import rehearse_files
from docproc.apps.documents.settings import DocumentsSettings
from docproc.apps.documents.statuses import DocumentsStatus
from docproc.apps.documents.store import pages
from docproc.apps.documents.tables import REQUESTS, PageStatus
from docproc.engine.component import NEXT, REQUEST_UNIT, BaseComponent, Context, Emission, Where
from docproc.engine.message import PipelineMessage
from docproc.errors import PermanentError, UnreadableFileError
from docproc.reading.files.unfold import FoundFile, Limits, unfold

# Rows of this many pages are written at once.
SLAB = 100


class Splitter(BaseComponent):
    """Emits one message per page of every file found in the uploads, in order, as they are written."""

    component_name = "splitter"
    takes = REQUEST_UNIT
    gives = "page"
    status = DocumentsStatus.SPLITTING
    runs_in = Where.PROCESSES

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        if self.settings.warm_up:
            self.warm_children(rehearse_files)

    async def process_message(
        self, message: PipelineMessage, session: AsyncSession
    ) -> AsyncIterator[Emission]:
        await self.announce(message)  # splitting may take a while: say so before it begins
        files = await self._find_files(message)
        total = sum(file["page_count"] for file in files)
        await pages.insert_files(session, files)
        await session.execute(
            update(REQUESTS).where(REQUESTS.c.id == message.request_id).values(page_count=total)
        )
        slab: list[tuple[dict[str, Any], PipelineMessage]] = []
        for index, (file, file_page) in enumerate(_places(files)):
            slab.append(_page(message, file, file_page, index, total))
            if len(slab) == SLAB or index + 1 == total:
                await pages.insert(session, [row for row, _ in slab])
                for _, emitted in slab:
                    yield NEXT, emitted
                slab = []

    async def _find_files(self, message: PipelineMessage) -> list[dict[str, Any]]:
        """The rows of `files`: what the uploads hold, each with a blob of its own."""
        files: list[dict[str, Any]] = []
        uploads = message.payload.get("files") or []
        left = self.settings.section(DocumentsSettings).max_pages
        for upload in uploads:
            path = await self.blobs.fetch(upload["key"])
            with self.blobs.scratch() as folder:
                for file in await self._unfold(message, upload, path, folder, left, alone=len(uploads) == 1):
                    key = upload["key"]
                    if file.path != path and not file.problem:
                        key = f"{message.request_id}/files/{len(files):04}{file.path.suffix}"
                        await self.blobs.put_file(key, file.path, tenant=message.tenant_id)
                    files.append(_file(message, file, len(files), key))
                    left -= file.page_count
        if not any(file["problem"] is None for file in files):
            problems = "; ".join(f"{file['name']}: {file['problem']}" for file in files[:3])
            raise PermanentError(problems or "the request has no file", remedy="Send a file with pages")
        return files

    async def _unfold(
        self,
        message: PipelineMessage,
        upload: dict[str, Any],
        path: Path,
        folder: Path,
        pages_left: int,
        *,
        alone: bool,
    ) -> Sequence[FoundFile]:
        limits = replace(Limits(), pages=max(pages_left, 0))
        password = message.payload.get("password")
        if not isinstance(password, str | None):  # from another sender than our gateways, who refuse it
            raise PermanentError("the password is not text", remedy='Send it in quotes: {"password": "1234"}')
        try:
            return await self.offload(unfold, path, upload["name"], folder, limits, password)
        except UnreadableFileError as error:
            if alone:
                raise
            kind, skipped = "application/octet-stream", error.code == "unsupported_type"
            return [FoundFile(upload["name"], path, kind, 0, problem=str(error), skipped=skipped)]


def _file(message: PipelineMessage, file: FoundFile, index: int, key: str) -> dict[str, Any]:
    return {
        "id": uuid5(message.request_id, f"file:{index}"),
        "tenant_id": message.tenant_id,
        "request_id": message.request_id,
        "file_index": index,
        "name": file.name,
        "blob_key": None if file.problem else key,
        "media_type": file.media_type,
        # A file that should have had pages counts as one, which fails by name; nothing is lost in silence.
        "page_count": int(not file.skipped) if file.problem else file.page_count,
        "notes": list(file.notes),
        "problem": file.problem,
        "skipped": file.skipped,
    }


def _places(files: Sequence[dict[str, Any]]) -> list[tuple[dict[str, Any], int]]:
    return [(file, page) for file in files for page in range(file["page_count"])]


def _page(
    message: PipelineMessage, file: dict[str, Any], file_page: int, index: int, total: int
) -> tuple[dict[str, Any], PipelineMessage]:
    page_id: UUID = pages.page_id(message.request_id, index)
    row = {
        "id": page_id,
        "tenant_id": message.tenant_id,
        "request_id": message.request_id,
        "file_index": file["file_index"],
        "file_page": file_page,
        "page_index": index,
        "status": PageStatus.PENDING_OCR,
    }
    payload = {"page_id": str(page_id), "blob_key": file["blob_key"], "file_page": file_page}
    if file["problem"]:
        payload["problem"] = f"{file['name']}: {file['problem']}"
    emitted = message.model_copy(
        update={
            "unit_key": f"page:{index}",
            "page_index": index,
            "page_count": total,
            "file_index": file["file_index"],
            "payload": payload,
        }
    )
    return row, emitted
