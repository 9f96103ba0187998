"""The home page where no application has one: the latest requests, whatever they are about."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy import select

from docproc.application import Link
from docproc.engine.store import tables
from docproc.http.access.caller import TheCaller
from docproc.http.access.scopes import Scope, needs
from docproc.http.context import Application
from docproc.http.pages import pages_of

router = APIRouter(include_in_schema=False)

LINK = Link("inbox", "/")
SHOWN = 50


@router.get("/")
@needs(Scope.READ)
async def page(request: Request, application: Application, caller: TheCaller) -> HTMLResponse:
    row = tables.Request
    query = select(row.id, row.workflow_name, row.status, row.created_at, row.deadline_utc)
    query = query.where(row.tenant_id == caller.tenant_id)
    async with application.store.reading() as session:
        found = list(await session.execute(query.order_by(row.created_at.desc()).limit(SHOWN)))
    pages = pages_of(request)
    statuses = pages.texts.beginning(pages.language_of(request), "status_")
    return pages.page(request, "index.html", requests=found, statuses=statuses)
