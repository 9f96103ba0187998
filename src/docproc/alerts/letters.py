"""Dead letters in the console and over HTTP: why a message failed for good, sent again or set aside."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field
from sqlalchemy import func, select
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.alerts import looking
from docproc.alerts.pages import LETTERS, render
from docproc.app import App
from docproc.engine.running import dead_letters
from docproc.engine.store.tables import DeadLetter
from docproc.errors import MessageError, PermanentError
from docproc.http.access.caller import Caller, TheCaller
from docproc.http.access.scopes import Scope, needs
from docproc.http.context import Application
from docproc.http.problems import Problem, documented

router = APIRouter(tags=["dead letters"])

SHOWN = 100
_ROW = DeadLetter
# Without the message itself: it may be large, and is somebody's document.
_COLUMNS = (
    _ROW.id,
    _ROW.request_id,
    _ROW.message_id,
    _ROW.queue,
    _ROW.stage,
    _ROW.unit_key,
    _ROW.reason,
    _ROW.attempts,
    _ROW.created_at,
    _ROW.settled_at,
    _ROW.replayed_as,
    _ROW.tenant_id,
)

LetterId = Annotated[UUID, Path(description="The dead letter's id")]


class LetterInfo(BaseModel):
    id: UUID
    request_id: UUID | None
    message_id: UUID | None
    queue: str
    stage: str | None
    unit_key: str | None
    reason: str
    attempts: int
    created_at: datetime
    settled_at: datetime | None = Field(description="When it was sent again or set aside")
    replayed_as: UUID | None = Field(description="The message that was sent instead")
    tenant_id: str


class LetterList(BaseModel):
    dead_letters: list[LetterInfo]
    open: int = Field(description="How many wait for a decision")


class Settled(BaseModel):
    id: UUID
    replayed_as: UUID | None = None


@router.get("/dead-letters", summary="Dead letters, newest first", response_model=LetterList)
@needs(Scope.READ)
async def listed(
    application: Application,
    caller: TheCaller,
    everything: Annotated[bool, Query(description="Also those that were dealt with")] = False,
    limit: Annotated[int, Query(ge=1, le=1000)] = SHOWN,
) -> dict[str, Any]:
    async with application.store.reading() as session:
        found = await _find(session, looking.whose(caller), everything=everything, limit=limit)
        number = await _open(session, looking.whose(caller))
    return {"dead_letters": [row._asdict() for row in found], "open": number}


@router.post(
    "/dead-letters/{letter_id}/replay",
    summary="Send a dead letter again",
    response_model=Settled,
    responses=documented(404, 409),
)
@needs(Scope.SUBMIT)
async def replay(application: Application, caller: TheCaller, letter_id: LetterId) -> dict[str, Any]:
    await _must_be_theirs(application, caller, letter_id)
    try:
        message_id, copies = await dead_letters.replay(application.outbox, letter_id)
    except (PermanentError, MessageError) as error:
        raise _conflict(error) from error
    await application.relay.publish(copies)
    return {"id": letter_id, "replayed_as": message_id}


@router.post(
    "/dead-letters/{letter_id}/discard",
    summary="Set a dead letter aside for good",
    response_model=Settled,
    responses=documented(404, 409),
)
@needs(Scope.SUBMIT)
async def discard(application: Application, caller: TheCaller, letter_id: LetterId) -> dict[str, Any]:
    await _must_be_theirs(application, caller, letter_id)
    try:
        await dead_letters.discard(application.outbox, letter_id)
    except PermanentError as error:
        raise _conflict(error) from error
    return {"id": letter_id}


@router.get("/monitor/dead-letters", include_in_schema=False)
@needs(Scope.READ)
async def page(
    request: Request,
    application: Application,
    caller: TheCaller,
    everything: Annotated[bool, Query()] = False,
) -> HTMLResponse:
    async with application.store.reading() as session:
        found = await _find(session, looking.whose(caller), everything=everything, limit=SHOWN)
        number = await _open(session, looking.whose(caller))
    return render(
        request,
        "monitor/letters.html",
        LETTERS,
        letters=found,
        number=number,
        everything=everything,
        may_settle=Scope.SUBMIT in caller.scopes,
    )


async def _find(
    session: AsyncSession, tenant_id: str | None, *, everything: bool, limit: int
) -> list[Row[Any]]:
    query = select(*_COLUMNS).order_by(_ROW.created_at.desc()).limit(limit)
    if not everything:
        query = query.where(_ROW.settled_at.is_(None))
    if tenant_id is not None:
        query = query.where(_ROW.tenant_id == tenant_id)
    return list(await session.execute(query))


async def _open(session: AsyncSession, tenant_id: str | None) -> int:
    query = select(func.count()).select_from(_ROW).where(_ROW.settled_at.is_(None))
    if tenant_id is not None:
        query = query.where(_ROW.tenant_id == tenant_id)
    return int(await session.scalar(query) or 0)


async def _must_be_theirs(app: App, caller: Caller, letter_id: UUID) -> None:
    """Another tenant's letter is none at all."""
    tenant_id = looking.whose(caller)
    async with app.store.reading() as session:
        owner = await session.scalar(select(_ROW.tenant_id).where(_ROW.id == letter_id))
    if owner is None or tenant_id not in (None, owner):
        told = f"there is no dead letter {letter_id}"
        raise Problem(404, "unknown_dead_letter", told, "See GET /dead-letters")


def _conflict(error: PermanentError | MessageError) -> Problem:
    remedy = getattr(error, "remedy", None) or "Discard it: it cannot be sent again"
    return Problem(409, "conflict", str(error).partition("\n")[0], remedy)
