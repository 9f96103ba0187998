"""Tasks for programs and pages: list, claim, answer, hand on (specification §8.3 and §13.4)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select

from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.people.station.context import Actor, DeskOf, Said, TaskId
from docproc.people.store import holding
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


class Outcome(BaseModel):
    """What became of an action."""

    task_id: UUID
    status: str


class Beat(BaseModel):
    holds: bool = Field(description="False when the task is no longer the person's")


@router.get("/api/tasks", summary="Tasks by urgency")
async def list_tasks(
    desk: DeskOf,
    status: Literal["pending", "assigned", "completed", "timeout"] | None = None,
    skill: Annotated[str | None, Query(max_length=64)] = None,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 100,
) -> TaskList:
    query = select(BackofficeTask, Operator.username).outerjoin(
        Operator, Operator.id == BackofficeTask.assigned_to
    )
    if status is not None:
        query = query.where(BackofficeTask.status == status)
    if skill is not None:  # a task's type is the skill it takes
        query = query.where(BackofficeTask.task_type == skill)
    async with desk.store.reading() as session:
        found = list(await session.execute(query.order_by(*holding.ORDER).limit(limit)))
        unread = await second_reader.still_to_read(session, [task.id for task, _ in found])
    return TaskList(tasks=[_info(task, name, is_blind=task.id in unread) for task, name in found])


def _info(task: BackofficeTask, holder: str | None, *, is_blind: bool) -> TaskInfo:
    """`is_blind`: somebody is yet to read it a second time, without knowing what was said."""
    values = {name: getattr(task, name) for name in TaskInfo.model_fields if name != "assigned_to"}
    hidden = {"output_data": None} if is_blind else {}
    return TaskInfo.model_validate({**values, "assigned_to": holder, **hidden})


@router.post("/tasks/{task_id}/claim", openapi_extra=_NOTHING, summary="Take a task")
async def claim(desk: DeskOf, task_id: TaskId, operator: Actor) -> Outcome:
    """409 when somebody else has it or it is done."""
    task = await desk.claim(task_id, operator)
    return Outcome(task_id=task.id, status=task.status)


@router.post("/tasks/{task_id}/submit", openapi_extra=_NOTHING, summary="Answer a task")
async def submit(desk: DeskOf, task_id: TaskId, operator: Actor, said: Said) -> Outcome:
    """With what the task's kind asks for; `task_type` and `input_data` of the task say what that is."""
    await desk.submit(task_id, operator, said)
    return Outcome(task_id=task_id, status="completed")


@router.post("/tasks/{task_id}/cannot-read", openapi_extra=_REASON, summary="Nobody can answer it")
async def cannot_read(desk: DeskOf, task_id: TaskId, operator: Actor, said: Said) -> Outcome:
    await desk.cannot_read(task_id, operator, str(said.get("reason") or ""))
    return Outcome(task_id=task_id, status="completed")


@router.post("/tasks/{task_id}/release", openapi_extra=_NOTHING, summary="Give a task back")
async def release(desk: DeskOf, task_id: TaskId, operator: Actor) -> Outcome:
    await desk.release(task_id, operator)
    return Outcome(task_id=task_id, status="pending")


@router.post("/tasks/{task_id}/skip", openapi_extra=_REASON, summary="Leave a task to others")
async def skip(desk: DeskOf, task_id: TaskId, operator: Actor, said: Said) -> Outcome:
    await desk.skip(task_id, operator, str(said.get("reason") or ""))
    return Outcome(task_id=task_id, status="pending")


@router.post("/tasks/{task_id}/escalate", openapi_extra=_REASON, summary="Leave a task to a supervisor")
async def escalate(desk: DeskOf, task_id: TaskId, operator: Actor, said: Said) -> Outcome:
    await desk.escalate(task_id, operator, str(said.get("reason") or ""))
    return Outcome(task_id=task_id, status="pending")


@router.post("/tasks/{task_id}/heartbeat", openapi_extra=_NOTHING, summary="The person is at it")
async def heartbeat(desk: DeskOf, task_id: TaskId, operator: Actor) -> Beat:
    return Beat(holds=await desk.heartbeat(operator, task_id))


@router.post("/heartbeat", openapi_extra=_NOTHING, summary="The person is there")
async def presence(desk: DeskOf, operator: Actor) -> Beat:
    return Beat(holds=await desk.heartbeat(operator))


@router.post("/next", openapi_extra=_NOTHING, summary="Take the most urgent task", response_model=Outcome)
async def next_task(desk: DeskOf, operator: Actor) -> Outcome | Response:
    """204 when there is none for this person."""
    task = await desk.next(operator)
    return Response(status_code=204) if task is None else Outcome(task_id=task.id, status=task.status)
