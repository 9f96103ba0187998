"""Sessions and a tenant's configuration over HTTP."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select

from docproc.apps.orchestrator import tenants
from docproc.apps.orchestrator.http import reading
from docproc.apps.orchestrator.http.keys import keys_of
from docproc.apps.orchestrator.http.models import SessionInfo
from docproc.apps.orchestrator.http.sockets import SessionId
from docproc.apps.orchestrator.tables import Session, Task
from docproc.apps.orchestrator.tenants import TenantConfig
from docproc.http.access.caller import TheCaller
from docproc.http.access.scopes import Scope, needs
from docproc.http.context import Application
from docproc.http.problems import Problem, documented

router = APIRouter(prefix="/api/v1", tags=["orchestrator"])

MOST_TASKS = 100


class Context(BaseModel):
    """What the tasks of a session share; keys that are named replace those of that name."""

    model_config = ConfigDict(extra="forbid")

    context: dict[str, Any] = Field(default_factory=dict)


@router.get(
    "/sessions/{session_id}",
    summary="A session and its latest tasks",
    response_model=SessionInfo,
    responses=documented(404, 422, 503),
)
@needs(Scope.READ)
async def shown(application: Application, caller: TheCaller, session_id: SessionId) -> SessionInfo:
    async with application.store.reading() as session:
        row = await session.get(Session, (caller.tenant_id, session_id))
        if row is None:
            raise _unknown()
        query = (
            select(Task)
            .where(Task.tenant_id == caller.tenant_id, Task.session_id == session_id)
            .order_by(Task.created_at.desc())
            .limit(MOST_TASKS)
        )
        tasks = await reading.many(session, query)
    return SessionInfo(
        session_id=row.session_id,
        context=row.context or {},
        created_at=row.created_at,
        expires_at=row.expires_at,
        tasks=list(tasks),
    )


@router.post(
    "/sessions/{session_id}/context",
    summary="Add to what the tasks of a session share",
    response_model=SessionInfo,
    responses=documented(400, 404, 408, 413, 422, 503),
)
@needs(Scope.SUBMIT)
async def changed(
    application: Application, caller: TheCaller, session_id: SessionId, body: Annotated[Context, Body()]
) -> SessionInfo:
    async with application.store.writing() as session:
        row = await session.get(Session, (caller.tenant_id, session_id), with_for_update=True)
        if row is None:
            raise _unknown()
        row.context = {**(row.context or {}), **body.context}
    # The copy is old now; it is made anew with the session's next event.
    await keys_of(application).end_session(caller.tenant_id, session_id)
    return await shown(application, caller, session_id)


@router.get("/tenant/config", summary="The tenant's configuration", response_model=TenantConfig)
@needs(Scope.READ)
async def config(application: Application, caller: TheCaller) -> TenantConfig:
    async with application.store.reading() as session:
        return await tenants.read(session, caller.tenant_id)


@router.put(
    "/tenant/config",
    summary="Replace the tenant's configuration",
    response_model=TenantConfig,
    responses=documented(400, 403, 408, 413, 422, 503),
)
@needs(Scope.ADMIN)
async def configured(application: Application, caller: TheCaller, said: TenantConfig) -> TenantConfig:
    async with application.store.writing() as session:
        await tenants.write(session, caller.tenant_id, said)
    await keys_of(application).put_config(caller.tenant_id, said.model_dump(mode="json"))
    return said


def _unknown() -> Problem:
    return Problem(404, "unknown_session", "there is no such session", "Submit a task in it first")
