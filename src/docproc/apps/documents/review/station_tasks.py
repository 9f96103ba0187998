"""What the pages of the documents' tasks ask for while somebody works: pictures, words, and checks."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Request
from fastapi.responses import Response

from docproc.apps.documents.http.page_images import LARGEST_WIDTH, Wanted, picture
from docproc.apps.documents.review import checking, viewing
from docproc.apps.documents.schemas import schemas_of
from docproc.http.bodies import LARGE_BYTES, takes
from docproc.people.kinds import asked
from docproc.people.standing import check_holds
from docproc.people.station import pages
from docproc.people.station.context import Actor, Application, DeskOf, Said, TaskId, Viewer

router = APIRouter(include_in_schema=False)

DEFAULT_WIDTH = 1400

PageNumber = Annotated[int, Path(ge=0, le=1_000_000, description="The page's index over the request")]


@router.get("/tasks/{task_id}/pages/{number}.png")
async def page_picture(
    application: Application,
    desk: DeskOf,
    task_id: TaskId,
    number: PageNumber,
    operator: Viewer,
    width: Annotated[int, Query(ge=16, le=LARGEST_WIDTH)] = DEFAULT_WIDTH,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    task = await desk.find(task_id)
    viewing.check_may_see(task, operator, number)
    wanted = Wanted(f"operator {operator.username}", task.request_id, number, width)
    return await picture(application, wanted, if_none_match)


@router.get("/tasks/{task_id}/pages/{number}/words")
async def page_words(desk: DeskOf, task_id: TaskId, number: PageNumber, operator: Viewer) -> dict[str, Any]:
    task = await desk.find(task_id)
    viewing.check_may_see(task, operator, number)
    async with desk.store.reading() as session:
        return {"words": await viewing.words_of(session, task.request_id, number)}


@router.post("/tasks/{task_id}/check")
@takes(LARGE_BYTES)
async def check_fields(
    request: Request, desk: DeskOf, task_id: TaskId, operator: Actor, said: Said
) -> dict[str, Any]:
    """What is wrong or odd so far; nothing is stored."""
    task = await desk.find(task_id)
    check_holds(task, operator)
    sitting = await desk.sitting(task, operator, pages.language_of(request, operator))
    schema = schemas_of(sitting.flow).get(str(asked(task).get("doc_type")))
    values = said.get("values")
    findings = checking.check(
        task,
        values if isinstance(values, dict) else {},
        schema.rules if schema else (),
        sitting.language,
    )
    return checking.as_json(findings)
