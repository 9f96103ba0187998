"""Tasks over HTTP: taken in, looked at, listed, cancelled, resumed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import JSONResponse
from sqlalchemy import select

from docproc.apps.orchestrator.accepting import acceptance_of
from docproc.apps.orchestrator.calls import rows
from docproc.apps.orchestrator.calls.envelopes import outgoing
from docproc.apps.orchestrator.envelope import reading as envelopes
from docproc.apps.orchestrator.envelope.errors import EnvelopeError
from docproc.apps.orchestrator.envelope.models import LARGEST_BYTES
from docproc.apps.orchestrator.http import reading
from docproc.apps.orchestrator.http.documents import body_schema
from docproc.apps.orchestrator.http.models import TaskAccepted, TaskDetail, TaskList
from docproc.apps.orchestrator.http.withdrawing import withdraw
from docproc.apps.orchestrator.tables import CallState, Task
from docproc.engine.running import dead_letters
from docproc.engine.store.tables import DeadLetter
from docproc.engine.store.tables import Request as RequestRow
from docproc.errors import RequestConflictError
from docproc.http.access.caller import TheCaller
from docproc.http.access.gate import check_tenant
from docproc.http.access.scopes import Scope, needs
from docproc.http.bodies import takes
from docproc.http.context import PLAIN_TEXT, Application, RequestId
from docproc.http.problems import documented
from docproc.http.reception import reception_of

router = APIRouter(prefix="/api/v1", tags=["orchestrator"])

# A little more than a message: what is only just too large is told so in the protocol's own words.
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# The end of 2200.
LAST_MICROS = 7_289_654_400_000_000
_BODY_BYTES = LARGEST_BYTES + 256 * 1024


def refused(error: EnvelopeError) -> Response:
    """422 with every violation: its code, its place and a remedy."""
    first = error.violations[0]
    body = {
        "code": error.code,
        "message": str(error.args[0]),
        "remedy": first.remedy,
        "details": [one.as_dict() for one in error.violations],
    }
    return JSONResponse({"error": body}, status_code=422)


@router.post(
    "/tasks",
    status_code=202,
    summary="Submit a task",
    response_model=TaskAccepted,
    responses=documented(400, 403, 408, 409, 413, 422, 429, 503),
    openapi_extra={
        "requestBody": {"required": True, "content": {"application/json": {"schema": body_schema()}}}
    },
)
@takes(_BODY_BYTES)
@needs(Scope.SUBMIT)
async def submit(
    request: Request,
    response: Response,
    application: Application,
    caller: TheCaller,
    idempotency_key: Annotated[str | None, Header(max_length=255, pattern=PLAIN_TEXT)] = None,
) -> Any:
    """Accepted before any work starts: follow it on `/ws`, or by `GET /api/v1/tasks/{task_id}`."""
    try:
        said = envelopes.decoded(await request.body())
        check_tenant(caller, said.get("tenant_id"))
        accepted = await acceptance_of(application).accept(
            said, caller.tenant_id, by=caller.by, idempotency_key=idempotency_key
        )
    except EnvelopeError as error:
        return refused(error)
    if accepted.is_new:
        envelope = accepted.envelope
        found = TaskAccepted(
            task_id=envelope.task_id,
            session_id=envelope.session_id or "",
            correlation_id=envelope.correlation_id,
        )
        # Written here: what was made by its model needs not be checked against it.
        return Response(found.model_dump_json(), 202, media_type="application/json")
    response.headers["Idempotent-Replay"] = "true"
    async with application.store.reading() as session:
        known = await reading.one(session, accepted.task_id)
    return TaskAccepted.model_validate(known.model_dump(include=set(TaskAccepted.model_fields)))


@router.get(
    "/tasks",
    summary="Tasks, newest first",
    response_model=TaskList,
    responses=documented(422, 503),
)
@needs(Scope.READ)
async def listed(
    application: Application,
    caller: TheCaller,
    session_id: Annotated[str | None, Query(max_length=128, pattern=PLAIN_TEXT)] = None,
    status: Literal["pending", "processing", "completed", "failed"] | None = None,
    before: Annotated[
        int | None, Query(ge=0, le=LAST_MICROS, description="`next` of the page before")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> TaskList:
    query = select(Task).where(Task.tenant_id == caller.tenant_id)
    if session_id is not None:
        query = query.where(Task.session_id == session_id)
    if before is not None:
        query = query.where(Task.created_at < _EPOCH + timedelta(microseconds=before))
    if status is not None:
        query = query.join(RequestRow, RequestRow.id == Task.request_id).where(*_in_status(status))
    query = query.order_by(Task.created_at.desc(), Task.request_id).limit(limit)
    async with application.store.reading() as session:
        found = await reading.many(session, query)
    is_more = len(found) == limit
    following = (found[-1].created_at - _EPOCH) // timedelta(microseconds=1) if is_more else None
    return TaskList(tasks=list(found), next=following)


def _in_status(status: str) -> list[Any]:
    ended = RequestRow.completed_at.is_not(None)
    found: dict[str, list[Any]] = {
        "completed": [ended, RequestRow.error.is_(None)],
        "failed": [ended, RequestRow.error.is_not(None)],
        "pending": [RequestRow.status == "received", ~ended],
        "processing": [RequestRow.status != "received", ~ended],
    }
    return found[status]


@router.get(
    "/tasks/{request_id}",
    summary="All about a task",
    response_model=TaskDetail,
    responses=documented(404, 422, 503),
)
@needs(Scope.READ)
async def shown(application: Application, request_id: RequestId) -> TaskDetail:
    async with application.store.reading() as session:
        return await reading.one(session, request_id)


@router.post(
    "/tasks/{request_id}/cancel",
    summary="Cancel a task",
    response_model=TaskDetail,
    responses=documented(404, 409, 422, 503),
)
@needs(Scope.SUBMIT)
async def cancelled(application: Application, request_id: RequestId) -> TaskDetail:
    """Nothing more is begun for it; what a service is doing now has no effect."""
    async with application.store.reading() as session:
        await reading.one(session, request_id)
    await reception_of(application).cancel(request_id)
    async with application.store.writing() as session:
        sent = [
            outgoing(call)
            for call in await rows.cancel_all(session, request_id)
            if call.state == CallState.OPEN.value
        ]
    async with application.store.reading() as session:
        await withdraw(application, session, sent)
        return await reading.one(session, request_id)


@router.post(
    "/tasks/{request_id}/resume",
    summary="Resume a failed task from its last checkpoint",
    response_model=TaskDetail,
    responses=documented(404, 409, 422, 503),
)
@needs(Scope.SUBMIT)
async def resumed(application: Application, request_id: RequestId) -> TaskDetail:
    """Steps that are done stay done; those that failed are called again."""
    async with application.store.reading() as session:
        found = await reading.one(session, request_id)
        query = select(DeadLetter.id).where(
            DeadLetter.request_id == request_id, DeadLetter.settled_at.is_(None)
        )
        letters = list(await session.scalars(query))
    if (found.error or {}).get("undone"):
        raise RequestConflictError(
            f"what task {request_id} had done was undone", remedy="Submit it again as a new task"
        )
    if not letters:
        raise RequestConflictError(f"task {request_id} has no step that failed", remedy="Nothing to do")
    for letter in letters:
        _, copies = await dead_letters.replay(application.outbox, letter)
        await application.relay.publish(copies)
    async with application.store.reading() as session:
        return await reading.one(session, request_id)
