"""The list of tasks, and the question who is there."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any
from weakref import WeakKeyDictionary

from fastapi import APIRouter, Header, Request
from fastapi.responses import HTMLResponse, Response

from docproc.engine.message import utc_now
from docproc.engine.store.task_tables import Operator
from docproc.errors import NotAllowedError
from docproc.people import undoing
from docproc.people.desk import Desk
from docproc.people.listing import Counter, Outline, grouped, lines, outline
from docproc.people.station import pages
from docproc.people.station.context import DeskOf, Viewer, who_of
from docproc.people.texts import raw

router = APIRouter(include_in_schema=False)

# What the page's script says; the rest is in the page.
SCRIPT_TEXTS = (
    "news_changed",
    "news_more",
    "taken_by_other",
    "unreachable",
    "nothing_left",
    "overdue",
    "gone_not_allowed",
    "opening",
    "undo_too_late",
)

_COUNTERS: WeakKeyDictionary[Desk, Counter] = WeakKeyDictionary()


@router.get("/")
async def queue_page(request: Request, desk: DeskOf) -> Response:
    try:
        operator = await who_of(request, desk, {})
    except NotAllowedError:
        if request.query_params.get("operator"):
            raise
        return pages.page(request, "who.html", None)
    language = pages.language_of(request, operator)
    context = await _context(desk, await _outline(desk, operator), language)
    async with desk.store.reading() as session:
        context["answers"] = await undoing.recent(session, operator, desk.kinds, language, utc_now())
    texts = {key: raw(language, key) for key in SCRIPT_TEXTS}
    is_done = "done" in request.query_params
    return pages.page(request, "queue.html", operator, texts=texts, is_done=is_done, **context)


@router.get("/queue")
async def queue_rows(
    request: Request,
    desk: DeskOf,
    operator: Viewer,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """The changing part of the list; unchanged, it is neither looked up nor sent again."""
    language = pages.language_of(request, operator)
    listed = await _outline(desk, operator)
    tag = f'"{hashlib.sha256(repr((language, listed)).encode()).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache", "Content-Language": language}
    if if_none_match == tag:
        return Response(status_code=304, headers=headers)
    context = await _context(desk, listed, language)
    return HTMLResponse(pages.render(request, "queue_rows.html", operator, **context), headers=headers)


async def _outline(desk: Desk, operator: Operator) -> Outline:
    async with desk.store.reading() as session:
        return await outline(session, _counter(desk), operator, utc_now())


def _counter(desk: Desk) -> Counter:
    """One for all who look at this desk."""
    return _COUNTERS.setdefault(desk, Counter())


async def _context(desk: Desk, listed: Outline, language: str) -> dict[str, Any]:
    async with desk.store.reading() as session:
        found = await lines(session, listed, desk.kinds, language)
    return {"listing": listed, "groups": grouped(found)}
