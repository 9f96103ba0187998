"""Waiting for an answer inside a call: for clients that would rather hold one than ask again and again."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import Query
from fastapi import Request as HttpRequest

from docproc.app import App
from docproc.http.following import Hub, until_gone
from docproc.http.looks import is_over
from docproc.http.reception import reception_of
from docproc.http.views import shapes_of, status_of

Wait = Annotated[
    float,
    Query(ge=0, le=60, allow_inf_nan=False, description="Seconds to wait for a newer answer, or the end"),
]


async def status_after(
    application: App, hub: Hub, http: HttpRequest, request_id: UUID, wait: float, after_version: int = 0
) -> dict[str, Any]:
    """A request as `GET /status/{id}` tells of it, as soon as there is a newer answer or it is over.

    Raises UnknownRequestError, and Problem where too many wait already.
    """
    reception = reception_of(application)
    request = await reception.find(request_id)
    if wait and request.answer_version <= after_version and not is_over(request.status, request.completed_at):
        with hub.following(request_id) as follower:
            async with follower.until(lambda: until_gone(http.receive)):
                await hub.answered(follower, after_version, wait)
        request = await reception.find(request_id)
    async with application.store.reading() as session:
        return await status_of(shapes_of(application), session, request)
