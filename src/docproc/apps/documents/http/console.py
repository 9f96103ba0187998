"""Documents in the console: their columns of the inbox, files in by hand, and what is inside a request."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.app import App
from docproc.apps.documents.differences import differences
from docproc.apps.documents.exports.bulk import FORMATS, exported
from docproc.apps.documents.http.request_panel import panel_of
from docproc.apps.documents.tables import Page, PageStatus
from docproc.apps.documents.texts import maybe, names, raw, text
from docproc.engine.store.tables import Request
from docproc.http.access.caller import Caller
from docproc.http.access.scopes import Scope
from docproc.http.console_view import Change, Column, ConsoleView, Exported, Facet, Panel
from docproc.written import Written

# What the intake's script says; the rest is in the page.
SCRIPT_TEXTS = ("failed_to_send", "sent_ok")
# Types named one by one; of more, how many others there are.
TYPES_SHOWN = 3


class DocumentsConsole(ConsoleView):
    columns = (
        Column("types", "column_types"),
        Column("issuer", "column_issuer"),
        Column("total", "column_total", is_number=True),
    )
    exports = FORMATS

    def facets(self, written: Written) -> Sequence[Facet]:
        return (Facet("type", "every_type", names.type_names(written.language)),)

    def cells(self, summary: Mapping[str, Any], written: Written) -> Mapping[str, str]:
        if "types" not in summary:
            return {}
        total = summary.get("total")
        return {
            "types": types_told(dict(summary["types"]), written.language),
            "issuer": _issuer(summary, written.language),
            "total": written.amount(total, summary.get("currency")) if total is not None else "",
        }

    def note(self, summary: Mapping[str, Any], written: Written) -> str:
        pages = summary.get("pages")
        return text(written.language, "pages_count", number=pages) if pages else ""

    def picture(self, request_id: UUID, summary: Mapping[str, Any]) -> str | None:
        return f"/requests/{request_id}/pages/0.png?width=150" if summary.get("pages") else None

    async def progress(
        self, session: AsyncSession, request_ids: Sequence[UUID], written: Written
    ) -> Mapping[UUID, str]:
        query = (
            select(Page.request_id, Page.status, func.count())
            .where(Page.request_id.in_(request_ids))
            .group_by(Page.request_id, Page.status)
        )
        counts: dict[UUID, dict[str, int]] = {}
        for request_id, status, number in await session.execute(query):
            counts.setdefault(request_id, {})[status] = number
        return {request_id: _progress(found, written.language) for request_id, found in counts.items()}

    async def intake(self, application: App, caller: Caller, written: Written) -> Panel | None:
        if Scope.SUBMIT not in caller.scopes:
            return None
        workflows = await asyncio.to_thread(_workflow_names, application, caller.tenant_id)
        texts = {key: raw(written.language, key) for key in SCRIPT_TEXTS}
        static = "/static/documents/intake"
        context = {
            "workflows": workflows,
            "texts": texts,
            "style": f"{static}.css",
            "script": f"{static}.js",
        }
        return Panel("documents/intake.html", context)

    async def panel(self, application: App, request: Request, written: Written) -> Panel | None:
        return await panel_of(application, request, written)

    def differences(self, before: Any, after: Any, written: Written) -> Sequence[Change]:
        return differences(before, after, written)

    async def export(
        self, application: App, request_ids: Sequence[UUID], format: str, language: str
    ) -> Exported:
        return await exported(application, request_ids, format, language)


def types_told(types: Mapping[str, int], language: str) -> str:
    """`3 facturas, 1 DNI`."""
    told = [type_told(name, number, language) for name, number in types.items()]
    if len(told) > TYPES_SHOWN:
        rest = sum(list(types.values())[TYPES_SHOWN - 1 :])
        told = [*told[: TYPES_SHOWN - 1], text(language, "others_count", number=rest)]
    return ", ".join(told)


def type_told(name: str, number: int, language: str) -> str:
    key = f"type_count_{name}"
    if maybe(language, key) is not None:
        return text(language, key, number=number)
    return f"{number} × {names.type_name(language, name)}"


def _issuer(summary: Mapping[str, Any], language: str) -> str:
    others = int(summary.get("issuers") or 0) - 1
    more = f" {text(language, 'and_more', number=others)}" if others > 0 else ""
    return f"{summary.get('issuer') or ''}{more}"


def _progress(counts: Mapping[str, int], language: str) -> str:
    total = sum(counts.values())
    read = total - counts.get(PageStatus.PENDING_OCR, 0)
    if read < total:
        return text(language, "pages_read_of", read=read, number=total)
    decided = counts.get(PageStatus.CLASSIFIED, 0)
    if counts.get(PageStatus.IN_REVIEW):
        return text(language, "waits_for_person")
    return text(language, "finding_fields" if decided == total else "finding_types")


def _workflow_names(application: App, tenant_id: str) -> list[str]:
    """Those that take files: their requests go through the router, to a splitter."""
    flows = application.loader.of(tenant_id).usable()
    return [flow.name for flow in flows if any(stage.component == "splitter" for stage in flow.stages)]


view = DocumentsConsole()
