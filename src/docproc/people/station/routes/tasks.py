"""Tasks for programs and pages: list, claim, answer, hand on (specification §8.3 and §13.4)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select

from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.http import bodies
from docproc.people import looking
from docproc.people.station.context import Actor, DeskOf, Said, TaskId, who_of
from docproc.people.store import claims
from docproc.people.supervision import second_reader

router = APIRouter(tags=["tasks"])

MOST = 500


def takes(**fields: str) -> dict[str, Any]:
    """The body for OpenAPI: JSON or a form, in which objects are JSON as text."""
    properties = {name: {"type": kind} for name, kind in {"operator": "string", **fields}.items()}
    schema = {"schema": {"type": "object", "properties": properties}}
    kinds = ("application/json", "application/x-www-form-urlencoded")
    return {"requestBody": {"content": dict.fromkeys(kinds, schema)}}


_REASON = takes(reason="string")
_NOTHING = takes()


class TaskInfo(BaseModel):
    """A task as programs see it."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    request_id: UUID
    task_type: str
    reference_id: UUID | None
    status: str
    priority: int
    required_skills: list[str]
    source_stage: str | None
    workflow_name: str | None
    deadline_utc: datetime | None
    created_at: datetime
    assigned_at: datetime | None
    completed_at: datetime | None
    input_data: Any
    output_data: Any | None
    assigned_to: str | None = Field(default=None, description="The holder's name")


class TaskList(BaseModel):
    tasks: list[TaskInfo]


class ActionResult(BaseModel):
    """What became of an action."""

    task_id: UUID
    status: str


class Beat(BaseModel):
    holds: bool = Field(description="False when the task is no longer the person's")


@router.get("/api/tasks", summary="Tasks by urgency")
async def list_tasks(
    request: Request,
    desk: DeskOf,
    status: Literal["pending", "assigned", "completed", "timeout"] | None = None,
    skill: Annotated[str | None, Query(max_length=64)] = None,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 100,
    operator: Annotated[str | None, Query(description="Who asks, while authentication is off")] = None,
) -> TaskList:
    """Those that the person may do, holds or has answered; a supervisor's are all of them.

    Who looked is on record. Where nobody says who it is, the list has no `input_data` and `output_data`.
    """
    is_named = operator is not None or desk.application.settings.auth == "on"
    person = await who_of(request, desk, {}) if is_named else None
    query = select(BackofficeTask, Operator.username).outerjoin(
        Operator, Operator.id == BackofficeTask.assigned_to
    )
    if status is not None:
        query = query.where(BackofficeTask.status == status)
    if skill is not None:  # a task's type is the skill it takes
        query = query.where(BackofficeTask.task_type == skill)
    async with desk.store.reading() as session:
        if person is not None:
            query = query.where(*looking.may_see(session, person))
        found = list(await session.execute(query.order_by(*claims.ORDER).limit(limit)))
        unread = await second_reader.still_to_read(session, [task.id for task, _ in found])
    if person is not None:
        await desk.look_through([task for task, _ in found], person)
    hidden = {task.id: _hidden(task.id in unread, is_named) for task, _ in found}
    return TaskList(tasks=[_info(task, name, hidden[task.id]) for task, name in found])


def _hidden(is_blind: bool, is_named: bool) -> tuple[str, ...]:
    """`is_blind`: somebody is yet to read it a second time, without knowing what was said."""
    if not is_named:
        return ("input_data", "output_data")
    return ("output_data",) if is_blind else ()


def _info(task: BackofficeTask, holder: str | None, hidden: Sequence[str]) -> TaskInfo:
    values = {name: getattr(task, name) for name in TaskInfo.model_fields if name != "assigned_to"}
    return TaskInfo.model_validate({**values, "assigned_to": holder, **dict.fromkeys(hidden)})


@router.post("/tasks/{task_id}/claim", openapi_extra=_NOTHING, summary="Take a task")
async def claim(desk: DeskOf, task_id: TaskId, operator: Actor) -> ActionResult:
    """409 when somebody else has it or it is done."""
    task = await desk.claim(task_id, operator)
    return ActionResult(task_id=task.id, status=task.status)


@router.post("/tasks/{task_id}/submit", openapi_extra=_NOTHING, summary="Answer a task")
@bodies.takes(bodies.LARGE_BYTES)
async def submit(desk: DeskOf, task_id: TaskId, operator: Actor, said: Said) -> ActionResult:
    """With what the task's kind asks for; `task_type` and `input_data` of the task say what that is."""
    await desk.submit(task_id, operator, said)
    return ActionResult(task_id=task_id, status="completed")


@router.post("/tasks/{task_id}/undo", openapi_extra=_NOTHING, summary="Take an answer back")
async def undo(desk: DeskOf, task_id: TaskId, operator: Actor) -> ActionResult:
    """One's own, for an hour: the question is open again, in the same hands. What was said stands until it is
    said anew; an answer of the request that has gone out by then is amended. 409 when it is too late."""
    task = await desk.undo(task_id, operator)
    return ActionResult(task_id=task.id, status=task.status)


@router.post("/tasks/{task_id}/cannot-read", openapi_extra=_REASON, summary="Nobody can answer it")
async def cannot_read(desk: DeskOf, task_id: TaskId, operator: Actor, said: Said) -> ActionResult:
    await desk.cannot_read(task_id, operator, str(said.get("reason") or ""))
    return ActionResult(task_id=task_id, status="completed")


@router.post("/tasks/{task_id}/release", openapi_extra=_NOTHING, summary="Give a task back")
async def release(desk: DeskOf, task_id: TaskId, operator: Actor) -> ActionResult:
    await desk.release(task_id, operator)
    return ActionResult(task_id=task_id, status="pending")


@router.post("/tasks/{task_id}/skip", openapi_extra=_REASON, summary="Leave a task to others")
async def skip(desk: DeskOf, task_id: TaskId, operator: Actor, said: Said) -> ActionResult:
    await desk.skip(task_id, operator, str(said.get("reason") or ""))
    return ActionResult(task_id=task_id, status="pending")


@router.post("/tasks/{task_id}/escalate", openapi_extra=_REASON, summary="Leave a task to a supervisor")
async def escalate(desk: DeskOf, task_id: TaskId, operator: Actor, said: Said) -> ActionResult:
    await desk.escalate(task_id, operator, str(said.get("reason") or ""))
    return ActionResult(task_id=task_id, status="pending")


@router.post("/tasks/{task_id}/heartbeat", openapi_extra=_NOTHING, summary="The person is at it")
async def heartbeat(desk: DeskOf, task_id: TaskId, operator: Actor) -> Beat:
    return Beat(holds=await desk.heartbeat(operator, task_id))


@router.post("/heartbeat", openapi_extra=_NOTHING, summary="The person is there")
async def presence(desk: DeskOf, operator: Actor) -> Beat:
    return Beat(holds=await desk.heartbeat(operator))


@router.post(
    "/next", openapi_extra=_NOTHING, summary="Take the most urgent task", response_model=ActionResult
)
async def next_task(desk: DeskOf, operator: Actor) -> ActionResult | Response:
    """204 when there is none for this person."""
    task = await desk.next(operator)
    return Response(status_code=204) if task is None else ActionResult(task_id=task.id, status=task.status)
