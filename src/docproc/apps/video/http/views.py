"""What films tell of a request: how many frames are done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.video.settings import sessions_of
from docproc.engine.store.tables import Request
from docproc.http.views import RequestView
from docproc.settings import Settings


class Frames(BaseModel):
    frames_processed: int | None = Field(default=None, description="Of a film: frames that are in it already")
    frames_total: int | None = Field(default=None, description="Of a film")


class VideoView(RequestView):
    status_model = Frames

    async def status(
        self, session: AsyncSession, request_ids: Sequence[UUID]
    ) -> Mapping[UUID, Mapping[str, Any]]:
        films = select(Request.id).where(Request.id.in_(request_ids), Request.channel == "video")
        sessions = sessions_of(Settings.load())
        found = {}
        for request_id in await session.scalars(films):
            if (known := sessions.of(request_id).said("progress")) is not None:
                found[request_id] = {name: known.get(name) for name in Frames.model_fields}
        return found


view = VideoView()
