"""The home page where documents are installed: files in by hand, answers to look at."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from docproc.app import App
from docproc.apps.documents.texts import names
from docproc.http.access.caller import TheCaller
from docproc.http.access.scopes import Scope, needs
from docproc.http.context import Application
from docproc.http.pages import pages_of
from docproc.texts import Catalogue

router = APIRouter(include_in_schema=False)

# What the page's script says; the rest is in the page.
SCRIPT_TEXTS = (
    "again", "cancel", "check", "check_title", "confidence", "document_pages", "download", "evidence",
    "failed_to_send", "field", "no_fields", "not_found", "open_tasks", "page_of", "page_picture",
    "pages_count", "partial", "received_at", "sending", "show", "took",
    "unsure_boundary", "unsure_doc_type", "value",
)  # fmt: skip


@router.get("/")
@needs(Scope.READ)
async def page(request: Request, application: Application, caller: TheCaller) -> HTMLResponse:
    pages = pages_of(request)
    workflows = await asyncio.to_thread(_workflow_names, application, caller.tenant_id)
    texts = script_texts(pages.texts, pages.language_of(request))
    return pages.page(request, "documents/home.html", workflows=workflows, texts=texts)


def script_texts(texts: Catalogue, language: str) -> dict[str, Any]:
    return {
        **{key: texts.raw(language, key) for key in SCRIPT_TEXTS},
        "steps": texts.beginning(language, "step_"),
        "statuses": texts.beginning(language, "status_"),
        "types": names.type_names(language),
        "names": texts.beginning(language, "field_name_"),
    }


def _workflow_names(application: App, tenant_id: str) -> list[str]:
    """Those that take files: their requests go through the router, to a splitter."""
    flows = application.loader.of(tenant_id).usable()
    return [flow.name for flow in flows if any(stage.component == "splitter" for stage in flow.stages)]
