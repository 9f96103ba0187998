"""Pictures of pages, drawn when somebody looks at them and kept for the next one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.responses import FileResponse

from docproc.app import App
from docproc.apps.documents.http.drawings import Asked, Drawings
from docproc.apps.documents.store import pages
from docproc.http.access.caller import TheCaller
from docproc.http.access.scopes import Scope, needs
from docproc.http.context import Application, RequestId
from docproc.http.problems import Problem, documented
from docproc.reading import rendering

router = APIRouter(tags=["requests"])

DEFAULT_WIDTH = 1000
LARGEST_WIDTH = 3000
# Each is kept once it was drawn, so there are few.
WIDTHS = (150, 200, 400, 700, 1000, 1400, 2000, LARGEST_WIDTH)
ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/png": {}}, "description": "The page, upright"},
    304: {"description": "The client has it already"},
    **documented(404, 422, 503),
}


@router.get(
    "/requests/{request_id}/pages/{number}.png",
    summary="The picture of a page",
    response_class=Response,
    responses=ANSWERS,
)
@needs(Scope.READ)
async def page_image(
    request: Request,
    application: Application,
    caller: TheCaller,
    request_id: RequestId,
    number: Annotated[int, Path(ge=0, le=1_000_000, description="The page's index over the request, from 0")],
    width: Annotated[
        int, Query(ge=16, le=LARGEST_WIDTH, description=f"In pixels; it comes in the next of {WIDTHS}")
    ] = DEFAULT_WIDTH,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    client = caller.by or f"address {request.client.host if request.client else 'unknown'}"
    return await picture(application, Wanted(client, request_id, number, width), if_none_match)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A page of a request, at least that many pixels wide; `client` is who gets a turn for it."""

    client: str
    request_id: UUID
    number: int
    width: int


async def picture(application: App, wanted: Wanted, if_none_match: str | None) -> Response:
    """The page, upright; drawn unless it is kept from an earlier look. For every page that shows pages."""
    async with application.store.reading() as session:
        place = await pages.place(session, wanted.request_id, wanted.number)
    if place is None or place.blob_key is None:
        told = f"request {wanted.request_id} has no picture of page {wanted.number}"
        raise Problem(404, "unknown_page", told)
    # Reading a page may find that it lies on its side: until then its picture is another one.
    turn = f"-r{place.rotation}" if place.rotation else ""
    width = next(step for step in WIDTHS if step >= wanted.width)
    name = f"{wanted.number}-{width}{turn}.png"
    headers = {"ETag": f'"{name}"', "Cache-Control": "private, no-cache"}
    if if_none_match is not None and headers["ETag"] in if_none_match:
        return Response(status_code=304, headers=headers)
    key = f"{wanted.request_id}/pages/{name}"
    if not await application.blobs.exists(key):
        asked = Asked(wanted.client, wanted.request_id, wanted.number, name, width)
        await _draw(application, asked, place, key)
    return FileResponse(await application.blobs.fetch(key), media_type="image/png", headers=headers)


async def _draw(application: App, asked: Asked, place: pages.FilePage, key: str) -> None:
    try:
        path = await application.blobs.fetch(str(place.blob_key))
    except FileNotFoundError as error:
        raise Problem(404, "file_gone", "the page's file is no longer kept") from error
    drawing = partial(rendering.png, path, place.file_page, rotation=place.rotation, width=asked.width)
    picture = await application.shared(Drawings).draw(asked, drawing)
    await application.blobs.put(key, _one(picture))


async def _one(content: bytes) -> AsyncIterator[bytes]:
    yield content
