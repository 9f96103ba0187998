"""The page of a packet: types and cuts of a whole file on one strip."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Header, Path, Query, Request
from fastapi.responses import RedirectResponse, Response

from docproc.apps.documents.http.page_images import LARGEST_WIDTH, Wanted, picture
from docproc.apps.documents.review import packet
from docproc.apps.documents.review.classification import choices
from docproc.apps.documents.schemas import types_of
from docproc.apps.documents.settings import models_folder
from docproc.apps.documents.texts import raw
from docproc.apps.documents.texts.names import type_name
from docproc.engine.message import utc_now
from docproc.engine.store.task_tables import BackofficeTask
from docproc.errors import NotAllowedError, TaskConflictError
from docproc.http.bodies import LARGE_BYTES, takes
from docproc.people import texts
from docproc.people.desk import Desk
from docproc.people.listing import met_deadlines
from docproc.people.standing import Standing, standing
from docproc.people.station import pages
from docproc.people.station.context import Actor, Application, DeskOf, Said, Viewer
from docproc.people.station.routes.work import COMMON, SCRIPT_TEXTS

router = APIRouter(prefix="/packets", include_in_schema=False)

# What the page's script says beyond the words of every task page.
OWN_TEXTS = ("document_number", "document_of_one_page", "cut_here", "no_cut_here")

RequestId = Annotated[UUID, Path()]
PageNumber = Annotated[int, Path(ge=0, le=1_000_000)]


@router.post("/{request_id}")
async def take(desk: DeskOf, request_id: RequestId, operator: Actor) -> dict[str, int]:
    """Take every question about types and cuts of the request that the person may have."""
    taken = 0
    for task in await _questions(desk, request_id):
        if standing(task, operator) not in (Standing.FREE, Standing.HELD):
            continue
        try:
            await desk.claim(task.id, operator)
            taken += 1
        except (TaskConflictError, NotAllowedError):  # somebody was faster, or must not read it
            continue
    if not taken:
        raise TaskConflictError("nothing of this file is to be had", remedy="Take another task")
    return {"taken": taken}


@router.get("/{request_id}")
async def packet_page(request: Request, desk: DeskOf, request_id: RequestId, operator: Viewer) -> Response:
    tasks = await _questions(desk, request_id)
    mine = packet.held(tasks, operator)
    if not mine:
        return RedirectResponse(f"/?operator={operator.username}", 303)
    language = pages.language_of(request, operator)
    sitting = await desk.sitting(mine[0], operator, language)
    for task in mine:
        await desk.view(task.id, operator)
    async with desk.store.reading() as session:
        weights = models_folder(desk.application.settings)
        sheets = await packet.strip(session, request_id, tasks, operator, weights)
        is_met = bool(await met_deadlines(session, [mine[0].id], utc_now()))
    words = {key: texts.raw(language, key) for key in SCRIPT_TEXTS}
    own = {key: raw(language, key) for key in OWN_TEXTS}
    context = {
        **COMMON,
        "task": mine[0],
        "kind": "packet",
        "base": f"/packets/{request_id}",
        "asked": {},
        "is_met": is_met,
        "sheets": sheets,
        "number": len(mine),
        "choices": choices(sitting.flow),
        "type_name": partial(type_name, language, added=types_of(sitting.flow)),
        "texts": {**words, **own},
    }
    return pages.page(request, "documents/packet.html", operator, **context)


@router.post("/{request_id}/submit")
@takes(LARGE_BYTES)
async def submit(desk: DeskOf, request_id: RequestId, operator: Actor, said: Said) -> dict[str, Any]:
    """`{"types": {"0": "invoice"}, "begins": {"1": true}}`, by page index over the request."""
    given = packet.read(said)
    tasks = await _questions(desk, request_id)
    mine = packet.held(tasks, operator)
    if not mine:
        raise TaskConflictError("you hold no question about this file", remedy="Go back to the list")
    async with desk.store.reading() as session:
        weights = models_folder(desk.application.settings)
        sheets = await packet.strip(session, request_id, tasks, operator, weights)
    answers = packet.answers(mine, sheets, given)
    # All are read before any is sent: a type that there is not must not leave half a file answered.
    by_id = {task.id: task for task in mine}
    for task_id, answer in answers:
        sitting = await desk.sitting(by_id[task_id], operator)
        desk.kinds[packet.TASK_TYPE].read(answer, sitting)
    for task_id, answer in answers:
        await desk.submit(task_id, operator, answer)
    return {"status": "completed", "tasks": len(answers)}


@router.post("/{request_id}/release")
async def release(desk: DeskOf, request_id: RequestId, operator: Actor) -> dict[str, str]:
    for task in packet.held(await _questions(desk, request_id), operator):
        await desk.release(task.id, operator)
    return {"status": "pending"}


@router.post("/{request_id}/heartbeat")
async def heartbeat(desk: DeskOf, request_id: RequestId, operator: Actor) -> dict[str, bool]:
    """The person is at all of it; `holds` is false when none of it is theirs any more."""
    mine = packet.held(await _questions(desk, request_id), operator)
    beats = [await desk.heartbeat(operator, task.id) for task in mine]
    return {"holds": any(beats)}


@router.get("/{request_id}/pages/{number}.png")
async def page_picture(
    application: Application,
    desk: DeskOf,
    request_id: RequestId,
    number: PageNumber,
    operator: Viewer,
    width: Annotated[int, Query(ge=16, le=LARGEST_WIDTH)] = 1400,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """Of the whole request, for whoever holds a question about it."""
    if not packet.held(await _questions(desk, request_id), operator):
        raise NotAllowedError("you hold no question about this file", remedy="Take it first")
    wanted = Wanted(f"operator {operator.username}", request_id, number, width)
    return await picture(application, wanted, if_none_match)


async def _questions(desk: Desk, request_id: UUID) -> Sequence[BackofficeTask]:
    async with desk.store.reading() as session:
        return await packet.questions(session, request_id)
