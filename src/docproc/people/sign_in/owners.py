"""Whose a task or request is that an address of the station names: what is another's is not there at all."""

from __future__ import annotations

from uuid import UUID

from fastapi import Request
from sqlalchemy import select

from docproc.engine.store.session import Store
from docproc.engine.store.tables import Request as RequestRow
from docproc.engine.store.task_tables import BackofficeTask
from docproc.errors import UnknownRequestError, UnknownTaskError

_BACK = "Go back to the list"


async def check(request: Request, store: Store, tenant_id: str) -> None:
    """Raises UnknownTaskError or UnknownRequestError; the same as where there is no such thing."""
    task_id, request_id = (_id(request.path_params.get(name)) for name in ("task_id", "request_id"))
    if task_id is None and request_id is None:
        return
    async with store.reading() as session:
        if task_id is not None:
            of_task = select(BackofficeTask.tenant_id).where(BackofficeTask.id == task_id)
            if await session.scalar(of_task) != tenant_id:
                raise UnknownTaskError(f"there is no task {task_id}", remedy=_BACK)
        if request_id is not None:
            of_request = select(RequestRow.tenant_id).where(RequestRow.id == request_id)
            if await session.scalar(of_request) != tenant_id:
                raise UnknownRequestError(f"there is no request {request_id}", remedy=_BACK)


def _id(said: object) -> UUID | None:
    """None also for what is no id: the endpoint says what is wrong with it."""
    try:
        return UUID(str(said)) if said is not None else None
    except ValueError:
        return None
