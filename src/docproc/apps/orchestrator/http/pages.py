"""The demo page: submit a task and see its plan and its events live."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from docproc.http.access.scopes import Scope, needs
from docproc.http.pages import pages_of

router = APIRouter(include_in_schema=False)


@router.get("/orchestrator")
@needs(Scope.READ)
async def page(request: Request) -> HTMLResponse:
    return pages_of(request).page(request, "orchestrator/demo.html")
