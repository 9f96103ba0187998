"""film: the whole of a film, from its frames to the film that is made of them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, ClassVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.video.conductor import Conductor, Order
from docproc.apps.video.errors import Code, VideoError
from docproc.apps.video.film.writing import DEFAULT_CODEC, codec_named
from docproc.apps.video.filters.chain import requested
from docproc.apps.video.frames.files import FrameFiles
from docproc.apps.video.metrics import FILMS
from docproc.apps.video.progress import Progress
from docproc.apps.video.reporting import reporter
from docproc.apps.video.sessions import Session
from docproc.apps.video.settings import VideoSettings, sessions_of
from docproc.apps.video.work.local import LocalWork
from docproc.apps.video.work.work import FrameWork
from docproc.engine.component import NEXT, REQUEST_UNIT, BaseComponent, Context, Emission, Where
from docproc.engine.message import PipelineMessage
from docproc.engine.store.tables import Request

# How often it is asked whether anybody still wants the film.
LOOK_SECONDS = 2.0


class Wanted(BaseModel):
    """The payload of a film's request."""

    model_config = ConfigDict(extra="ignore")

    processing: str = "blur"
    filters: list[Any] = Field(default_factory=list)
    codec: str = DEFAULT_CODEC
    filename: str = ""


class FilmComponent(BaseComponent):
    """A film is one message: its frames are no units of the engine but files, redone from the film when lost.

    A process that dies leaves the message to another, which goes on with the frames that are there.
    """

    component_name: ClassVar[str] = "film"
    takes = REQUEST_UNIT
    status = "filtering"
    exclusive = True  # two conductors of one film would write into each other's files
    runs_in = Where.PROCESSES
    routing_key = "request.film"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.video = self.settings.section(VideoSettings)
        self.sessions = sessions_of(self.settings)
        # Films share the workers: few at a time are done sooner than all at once.
        self._turns = asyncio.Semaphore(self.video.video_films)

    async def setup(self) -> None:
        self.sessions.prepare()

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        place = self.sessions.of(message.request_id)
        try:
            order = self._order(message, place)
            await self.announce(message)
            async with self._turns:
                metrics = await self._conduct(message, place, order)
        except VideoError as error:
            FILMS.labels(error.code).inc()
            await self._say_failed(place, message, error)
            raise
        FILMS.labels("completed").inc()
        result = {
            "session_id": str(message.request_id),
            "partial": False,
            "missing": [],
            "output_path": str(place.output),
            "size_bytes": place.output.stat().st_size,
            "metrics": metrics,
        }
        return [(NEXT, message.model_copy(update={"payload": result}))]

    def _order(self, message: PipelineMessage, place: Session) -> Order:
        try:
            wanted = Wanted.model_validate(message.payload)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            said = f"payload {'.'.join(map(str, first['loc']))}: {first['msg']}"
            raise VideoError(said, code=Code.BAD_PARAMETERS) from error
        chain = requested(wanted.processing, wanted.filters, self.video.video_max_filters)
        if not place.film.exists():
            raise VideoError(
                "there is no film for this request",
                code=Code.NO_FRAMES,
                remedy="Send it with docproc video send, and let server and workers share DOCPROC_VIDEO_DATA",
            )
        return Order(chain, codec_named(wanted.codec), wanted.filename)

    async def _conduct(self, message: PipelineMessage, place: Session, order: Order) -> dict[str, Any]:
        client = None
        work: FrameWork
        if self.video.video_redis_url:
            import redis

            from docproc.apps.video.work.celery import CeleryWork  # Celery, only where there is a broker
            from docproc.apps.video.work.tasks import create

            client = redis.Redis.from_url(
                self.video.video_redis_url, socket_timeout=5, socket_connect_timeout=5
            )
            work = CeleryWork(
                create(self.video, self.sessions.folder), client, self.video.video_visibility_seconds
            )
        else:
            limits = {"retries": self.video.video_frame_retries}
            seconds = self.video.video_frame_seconds
            work = LocalWork(self.sessions.folder, self.offload, **limits, time_limit_seconds=seconds)
        report = reporter(place, client)
        conductor = Conductor(place, order, work, self.video, self.offload, report)
        try:
            return await self._while_wanted(message.request_id, conductor)
        finally:
            if client is not None:
                client.close()

    async def _while_wanted(self, request_id: UUID, conductor: Conductor) -> dict[str, Any]:
        """Raises VideoError when the request was cancelled or erased meanwhile."""
        film = asyncio.create_task(conductor.run())
        try:
            while not film.done():
                await asyncio.wait({film}, timeout=LOOK_SECONDS)
                if not film.done() and not await self._is_wanted(request_id):
                    raise VideoError("the request was cancelled", code=Code.CANCELLED)
            return film.result()
        finally:
            film.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await film

    async def _is_wanted(self, request_id: UUID) -> bool:
        async with self.store.reading() as session:
            error = await session.execute(select(Request.error).where(Request.id == request_id))
            row = error.one_or_none()
        return row is not None and row[0] is None

    async def _say_failed(self, place: Session, message: PipelineMessage, error: VideoError) -> None:
        """For those who look at the files; the request's own error is written by the engine."""
        if not place.exists:
            return
        known = place.said("progress") or Progress(str(message.request_id), "", []).snapshot()
        with suppress(OSError):  # the disk may be what is full
            place.say(
                "progress",
                {**known, "status": "failed", "error": {"code": error.code, "message": str(error)}},
            )

    async def partial_result(self, message: PipelineMessage, session: AsyncSession) -> dict[str, Any] | None:
        """How far it is: the frames that are not filtered yet are missing, in runs."""
        place = self.sessions.of(message.request_id)
        known = await asyncio.to_thread(place.said, "progress")
        if known is None:
            return None
        listing = await asyncio.to_thread(FrameFiles(place.frames).listing)
        total = int(known["frames_total"])
        done = set(listing.ready)
        if not self.video.video_keep_frames:
            done |= set(range(int(known["frames_processed"])))
        left = [index for index in range(total) if index not in done]
        names = ("frames_processed", "frames_total", "fps", "eta_seconds", "frames_failed")
        return {
            "session_id": str(message.request_id),
            "partial": True,
            "missing": [
                {"unit": unit, "reason": "failed" if failed else "queued"}
                for unit, failed in _runs(left, listing.failed)
            ],
            "metrics": {name: known.get(name) for name in names},
        }


def _runs(indices: list[int], failed: frozenset[int]) -> list[tuple[str, bool]]:
    """`frame:7`, `frame:12-40`: neighbours that are missing for one reason."""
    runs: list[tuple[int, int, bool]] = []
    for index in indices:
        has_failed = index in failed
        if runs and runs[-1][1] == index - 1 and runs[-1][2] == has_failed:
            runs[-1] = (runs[-1][0], index, has_failed)
        else:
            runs.append((index, index, has_failed))
    return [(f"frame:{a}" if a == b else f"frame:{a}-{b}", why) for a, b, why in runs]
