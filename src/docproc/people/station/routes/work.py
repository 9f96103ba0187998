"""The pages where a task is answered: what its kind shows, what is asked, and what is typed so far."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from docproc.engine.message import utc_now
from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.errors import UnknownTaskError
from docproc.http import problems
from docproc.people import undoing
from docproc.people.desk import Desk
from docproc.people.kinds import asked
from docproc.people.listing import met_deadlines
from docproc.people.standing import Standing, standing
from docproc.people.station import pages
from docproc.people.station.context import DeskOf, TaskId, Viewer
from docproc.people.station.telling import Telling
from docproc.people.texts import raw

router = APIRouter(include_in_schema=False)

# What the script of every task page says; the rest is in the pages.
SCRIPT_TEXTS = (
    "sending", "sent", "not_sent", "lost", "kept_draft", "some_problems", "skip_title", "escalate_title",
    "cannot_read_title", "overdue", "signed_out", "undo_too_late", "was_taken_back",
)  # fmt: skip


# What `work.html` needs to know; pages that are no task's change some of it.
COMMON: dict[str, Any] = {
    "earlier": None,  # what was said before it was taken back
    "last_answer": None,  # that can be taken back
    "is_met": False,  # the deadline, without this task
    "back": "",  # where sending leads, if not to the next task
    "is_correction": False,  # of something finished: there is nothing to hand on
}


@router.get("/tasks/{task_id}")
async def task_page(request: Request, desk: DeskOf, task_id: TaskId, operator: Viewer) -> Response:
    """Looking changes nothing but the record of who looked; taking is a POST."""
    try:
        task = await desk.find(task_id)
    except UnknownTaskError:
        return _gone(request, operator)
    stands = standing(task, operator)
    if stands is Standing.FREE:
        label = desk.kinds.listed(task, pages.language_of(request, operator)).label
        return pages.page(request, "free.html", operator, task=task, label=label)
    if stands is not Standing.HELD:
        status = 403 if stands is Standing.NOT_ALLOWED else 200
        return pages.page(request, "gone.html", operator, status=status, why=stands.value)
    await desk.view(task_id, operator)
    return await _work(request, desk, task, operator)


async def tell_no_task(request: Request, error: Exception) -> Response:
    """The gate found that there is no such task, or that it is another tenant's: the same page, or the same
    answer to a program."""
    assert isinstance(error, UnknownTaskError)
    session = getattr(request.state, "signed_in", None)
    if session is not None and request.scope.get("endpoint") is task_page:
        return _gone(request, session.operator)
    return problems.answer(404, "unknown_task", str(error.args[0]), error.remedy)


def _gone(request: Request, operator: Operator) -> Response:
    return pages.page(request, "gone.html", operator, status=404, why="unknown")


async def _work(request: Request, desk: Desk, task: BackofficeTask, operator: Operator) -> Response:
    language = pages.language_of(request, operator)
    sitting, telling = await desk.sitting(task, operator, language), Telling.of(request, language)
    async with desk.store.reading() as session:
        shown = await desk.kinds[task.task_type].shown(session, sitting)
        given = await undoing.recent(session, operator, desk.kinds, language, utc_now())
        is_met = bool(await met_deadlines(session, [task.id], utc_now()))
    # As the script fills it in: its `{values}` stay.
    words = {key: raw(language, key) for key in SCRIPT_TEXTS}
    common: dict[str, Any] = {
        **COMMON,
        "task": task,
        "kind": task.task_type,
        "asked": asked(task),
        "label": telling.label,
        "said": telling.said,
        "texts": {**words, **shown.script_texts},
        "earlier": undoing.earlier(task),
        "last_answer": given[0] if given else None,
        "is_met": is_met,
        "base": f"/tasks/{task.id}",
    }
    return pages.page(request, shown.template, operator, **{**common, **shown.context})
