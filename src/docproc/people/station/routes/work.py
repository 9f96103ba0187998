"""The pages where a task is answered: its document, its question, and what is typed so far."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Request
from fastapi.responses import Response

from docproc.apps.documents.http.page_images import Wanted, picture
from docproc.apps.documents.review import checking, reasons, viewing
from docproc.apps.documents.review.classification import asked
from docproc.apps.documents.review.names import field_name, type_name
from docproc.apps.documents.review.viewing import Standing
from docproc.apps.documents.schemas import schemas_of
from docproc.engine.message import PipelineMessage
from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.engine.workflow.definition import Workflow
from docproc.errors import UnknownTaskError
from docproc.people.desk import Desk
from docproc.people.listing import kind_of, pages_asked
from docproc.people.station import pages
from docproc.people.station.context import Actor, Application, DeskOf, Said, TaskId, Viewer
from docproc.people.texts import text

router = APIRouter(include_in_schema=False)

TEMPLATES = {"type": "classification.html", "split": "split.html", "fields": "extraction.html"}
DEFAULT_WIDTH = 1400
# What the pages' scripts say; the rest is in the pages.
SCRIPT_TEXTS = (
    "sending", "sent", "not_sent", "lost", "kept_draft", "undone", "nothing_to_undo", "filled", "reads_as",
    "some_problems", "skip_title", "escalate_title", "cannot_read_title", "overdue", "signed_out",
)  # fmt: skip

PageNumber = Annotated[int, Path(ge=0, le=1_000_000, description="The page's index over the request")]


@router.get("/tasks/{task_id}")
async def task_page(request: Request, desk: DeskOf, task_id: TaskId, operator: Viewer) -> Response:
    """Looking changes nothing but the record of who looked; taking is a POST."""
    try:
        task = await desk.find(task_id)
    except UnknownTaskError:
        return pages.page(request, "gone.html", operator, status=404, why="unknown")
    stands = viewing.standing(task, operator)
    if stands is Standing.FREE:
        return pages.page(request, "free.html", operator, task=task, kind=kind_of(task))
    if stands is not Standing.HELD:
        status = 403 if stands is Standing.NOT_ALLOWED else 200
        return pages.page(request, "gone.html", operator, status=status, why=stands.value)
    await desk.view(task_id, operator)
    return await _work(request, desk, task, operator)


async def _work(request: Request, desk: Desk, task: BackofficeTask, operator: Operator) -> Response:
    language, kind = pages.language_of(request, operator), kind_of(task)
    async with desk.store.reading() as session:
        seen = await viewing.pages_shown(session, task)
    common: dict[str, Any] = {
        "task": task,
        "kind": kind,
        "asked": asked(task),
        "shown_pages": seen,
        "asked_pages": [page for page in seen if page.index in pages_asked(task)],
        "type_name": partial(type_name, language),
        "field_name": partial(field_name, language),
        "texts": {key: _raw(language, key) for key in SCRIPT_TEXTS},
    }
    more = _fields(task, language) if kind == "fields" else {}
    if kind == "type":
        more = {"choices": viewing.type_choices(task, await _flow(desk, task))}
    return pages.page(request, TEMPLATES[kind], operator, **common, **more)


def _fields(task: BackofficeTask, language: str) -> dict[str, Any]:
    found = viewing.fields_of(task)
    return {
        "doubtful": [one for one in found if one.is_doubtful],
        "accepted": [one for one in found if not one.is_doubtful],
        "shown": partial(checking.shown, language=language),
        "told": partial(reasons.told, language=language),
    }


async def _flow(desk: Desk, task: BackofficeTask) -> Workflow:
    """As it was when the request came."""
    return await desk.application.versions.workflow(PipelineMessage.parse(task.message or ""))


def _raw(language: str, key: str) -> str:
    """As a script fills it in: its `{values}` stay."""
    return text(language, key, field="{field}", value="{value}", time="{time}")


@router.get("/tasks/{task_id}/pages/{number}.png")
async def page_picture(
    application: Application,
    desk: DeskOf,
    task_id: TaskId,
    number: PageNumber,
    operator: Viewer,
    width: Annotated[int, Query(ge=16, le=3000)] = DEFAULT_WIDTH,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    task = await desk.find(task_id)
    viewing.check_may_see(task, operator, number)
    return await picture(application, Wanted(task.request_id, number, width), if_none_match)


@router.get("/tasks/{task_id}/pages/{number}/words")
async def page_words(desk: DeskOf, task_id: TaskId, number: PageNumber, operator: Viewer) -> dict[str, Any]:
    task = await desk.find(task_id)
    viewing.check_may_see(task, operator, number)
    async with desk.store.reading() as session:
        return {"words": await viewing.words_of(session, task.request_id, number)}


@router.post("/tasks/{task_id}/check")
async def check_fields(
    request: Request, desk: DeskOf, task_id: TaskId, operator: Actor, said: Said
) -> dict[str, Any]:
    """What is wrong or odd so far; nothing is stored."""
    task = await desk.find(task_id)
    viewing.check_holds(task, operator)
    flow = await _flow(desk, task)
    schema = schemas_of(flow).get(str(asked(task).get("doc_type")))
    values = said.get("values")
    found = checking.check(
        task,
        values if isinstance(values, dict) else {},
        schema.rules if schema else (),
        pages.language_of(request, operator),
    )
    return {
        "problems": found.problems, "doubts": found.doubts, "values": found.values, "hints": found.hints,
    }  # fmt: skip
