"""Films as requests of the engine: submitted once, and followed to their end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select

from docproc.app import App
from docproc.apps.video.errors import Code, VideoError
from docproc.apps.video.filters.chain import Chain
from docproc.apps.video.server.protocol import Handshake
from docproc.apps.video.sessions import CHANNEL, Session
from docproc.engine.running.intake import Submission
from docproc.engine.store.requests import readable_error
from docproc.engine.store.tables import Request, RequestStatus
from docproc.errors import UsageError, WorkflowError
from docproc.http.callbacks.addresses import checked_url
from docproc.http.callbacks.secret import can_sign
from docproc.http.looks import is_over

COMPONENT = "film"
TENANT = "default"
LOOK_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Step:
    """News of a film: numbers while it is worked on; at the end its result, or what was wrong."""

    numbers: dict[str, Any] | None = None
    result: dict[str, Any] | None = None
    error: tuple[str, str] | None = None


class Films:
    """What the server's clients have in common: the engine."""

    def __init__(self, application: App) -> None:
        self.application = application

    def check(self, said: Handshake) -> None:
        """Before a byte of the film is taken: raises VideoError for what no request can be made of."""
        try:
            flow = self.application.loader.load(said.workflow)
            if COMPONENT not in {stage.component for stage in flow.stages}:
                raise UsageError(f"the workflow {said.workflow!r} makes no films", remedy="Use video")
            self._callback_url(said)
        except (UsageError, WorkflowError) as error:
            raise VideoError(str(error), code=Code.BAD_PARAMETERS) from error

    def _callback_url(self, said: Handshake) -> str | None:
        settings = self.application.settings
        url = said.callback_url or settings.callback_urls.get(TENANT)
        if url is None:
            return None
        if not can_sign(settings):
            raise UsageError(
                "there is no secret to sign callbacks with", remedy="Set DOCPROC_CALLBACK_SECRET"
            )
        return checked_url(url, allow_private=settings.callback_allow_private)

    async def submit(self, session: Session, said: Handshake, chain: Chain, codec: str) -> None:
        """Once for each session, however often its client comes back."""
        if await self.is_known(session.session_id):
            return
        await self.application.intake.submit(
            Submission(
                workflow=said.workflow,
                payload={
                    "processing": said.processing if len(chain.names) == 1 else "custom",
                    "filters": chain.specs,
                    "codec": codec,
                    "filename": said.video_info.filename,
                },
                priority=said.priority,
                channel=CHANNEL,
                source_component="video_server",
                metadata={"filename": said.video_info.filename, "filters": chain.names},
                request_id=session.session_id,
                content_hash=said.video_info.sha256,
                callback_url=self._callback_url(said),
            )
        )

    async def is_known(self, request_id: UUID) -> bool:
        return await self._row(request_id) is not None

    async def follow(self, session: Session) -> AsyncIterator[Step]:
        """Until the film is made or failed; the last step says which."""
        while True:
            row = await self._row(session.session_id)
            if row is None:
                yield Step(error=(Code.CANCELLED, "the request was erased"))
                return
            if is_over(row.status, row.completed_at):
                yield _end(row)
                return
            known = await asyncio.to_thread(session.said, "progress")
            yield Step(numbers=_numbers(known, row.status))
            await asyncio.sleep(LOOK_SECONDS)

    async def _row(self, request_id: UUID) -> Any:
        columns = (Request.status, Request.completed_at, Request.error, Request.result_payload)
        async with self.application.store.reading() as session:
            return (await session.execute(select(*columns).where(Request.id == request_id))).one_or_none()


def _end(row: Any) -> Step:
    if row.error is None and row.status in (RequestStatus.COMPLETED, RequestStatus.SLA_BREACHED):
        return Step(result=dict(row.result_payload))
    error = row.error if isinstance(row.error, dict) else {}
    return Step(error=(str(error.get("code", Code.INTERNAL)), readable_error(row.error)))


def _numbers(known: dict[str, Any] | None, status: str) -> dict[str, Any]:
    names = ("frames_processed", "frames_total", "fps", "eta_seconds")
    numbers = {name: (known or {}).get(name, 0) for name in names}
    return {
        **numbers,
        "status": (known or {}).get("status", status),
        "deadline_passed": status == "sla_breached",
    }
