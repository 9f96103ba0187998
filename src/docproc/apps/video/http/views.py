"""What films tell of a request: how far its frames are."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.video.sessions import CHANNEL
from docproc.apps.video.settings import sessions_of
from docproc.engine.store.tables import Request
from docproc.http.views import RequestView
from docproc.settings import Settings


class FilmProgress(BaseModel):
    model_config = ConfigDict(extra="ignore")

    status: str
    frames_processed: int
    frames_total: int
    frames_failed: int = 0
    fps: float
    eta_seconds: float | None = None


class Film(BaseModel):
    film: FilmProgress | None = Field(
        default=None, description="Of a request that is a film, once it is begun"
    )


class VideoView(RequestView):
    detail_model = Film

    async def detail(
        self, session: AsyncSession, request: Request, known: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        if request.channel != CHANNEL:
            return {"film": None}
        place = sessions_of(Settings.load()).of(request.id)
        told = await asyncio.to_thread(place.said, "progress")
        return {"film": FilmProgress.model_validate(told).model_dump() if told else None}


view = VideoView()
