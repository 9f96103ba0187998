"""The page of a request: what is in it, how it went, the versions of its answer, what waits for people."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy import select

from docproc.console import history, timeline
from docproc.console.inbox import Shown
from docproc.engine.store import answers
from docproc.engine.store.search_tables import SearchEntry
from docproc.engine.store.tables import Answer
from docproc.engine.store.tables import Request as RequestRow
from docproc.http.access.caller import TheCaller
from docproc.http.access.scopes import Scope, needs
from docproc.http.addresses import API, BACKOFFICE, Addresses
from docproc.http.context import Application, RequestId
from docproc.http.looks import is_over
from docproc.http.reception import reception_of

router = APIRouter(include_in_schema=False)

# What is shown of the JSON here; all of it is a link away.
MOST_JSON = 60_000


@router.get("/inbox/{request_id}")
@needs(Scope.READ)
async def page(
    request: Request, application: Application, caller: TheCaller, request_id: RequestId
) -> HTMLResponse:
    row = await reception_of(application).find(request_id)
    shown = Shown(request, application, caller)
    panel = await shown.views.panel(application, row, shown.written)
    async with application.store.reading() as session:
        entry = await session.scalar(select(SearchEntry).where(SearchEntry.request_id == request_id))
        versions = await answers.of_request(session, request_id)
        spans = await history.spans(session, request_id)
        tasks = await history.tasks(session, request_id)
    over = is_over(row.status, row.completed_at)
    inside = panel.context.get("mark", "") if panel else ""
    text = shown.words.text
    waiting = history.open_tasks(tasks)
    stand = shown.words.stand(_Joined(row, entry), "", shown.now)
    return shown.pages.page(
        request,
        "request.html",
        the_request=row,
        title=_title(row, entry),
        stand=stand,
        facts=_facts(shown, row),
        is_over=over,
        panel=panel.context if panel else None,
        panel_template=panel.template if panel else None,
        picture=_picture(shown, row, versions, spans, tasks),
        stage_name=partial(history.stage_name, text, shown.words.knows),
        versions=_versions(shown, versions),
        tasks=[history.facts(task) for task in waiting],
        task_name=partial(_task_name, shown),
        station=Addresses(application.settings, API).of(BACKOFFICE, request),
        answer=_pretty(row.result_payload),
        error=row.error,
        failure=shown.words.failure(row.error) if row.error else "",
        exports=shown.views.exporting.exports if panel and shown.views.exporting else (),
        may_submit=Scope.SUBMIT in caller.scopes,
        may_erase=Scope.ADMIN in caller.scopes,
        now=shown.now,
        mark=f"{row.status} {row.answer_version} {len(waiting)} {len(spans)} {inside}",
    )


class _Joined:
    """A request and its entry as one row, as lines of the inbox have it."""

    def __init__(self, row: RequestRow, entry: SearchEntry | None) -> None:
        self._row = row
        self.attention = entry.attention if entry else 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._row, name)


def _title(row: RequestRow, entry: SearchEntry | None) -> str:
    names = ", ".join(str(upload["name"]) for upload in row.uploads or ())
    return (entry.title if entry else "") or names or row.workflow_name


def _facts(shown: Shown, row: RequestRow) -> list[str]:
    text, written = shown.words.text, shown.written
    found = [text("received_at", time=written.moment(row.created_at))]
    allowed = written.duration(row.sla_seconds) if row.sla_seconds else ""
    if row.completed_at is not None:
        took = written.duration((row.completed_at - row.created_at).total_seconds())
        found.append(
            text("answered_in_of", time=took, allowed=allowed) if allowed else text("done_in", time=took)
        )
    elif row.deadline_utc is not None:
        found.append(text("due_at", time=written.short(row.deadline_utc, shown.now)))
    if row.answer_version:
        found.append(text("answer_version", number=row.answer_version))
    found.append(row.workflow_name)
    if row.external_id:
        found.append(text("reference", value=row.external_id))
    return found


def _picture(
    shown: Shown,
    row: RequestRow,
    versions: list[Answer],
    spans: list[timeline.Span],
    tasks: list[Any],
) -> timeline.Picture | None:
    if not spans:
        return None
    text = shown.words.text
    now = None if is_over(row.status, row.completed_at) else shown.now
    moments = history.moments(
        row, versions, lambda one: text("version_short", number=one.version), text("deadline")
    )
    people = history.people(tasks, shown.now)
    return timeline.draw(row.created_at, [*spans, *people], moments, now)


def _versions(shown: Shown, versions: list[Answer]) -> list[dict[str, Any]]:
    """The newest first, each with what it changed."""
    found = []
    before: Any = None
    for one in versions:
        changes = shown.views.differences(before, one.payload, shown.written) if before is not None else []
        found.append(
            {
                "number": one.version,
                "at": one.created_at,
                "is_partial": one.is_partial,
                "reason": one.reason,
                "changes": changes,
                "is_first": before is None,
            }
        )
        before = one.payload if one.payload is not None else before
    return found[::-1]


def _task_name(shown: Shown, kind: str) -> str:
    key = f"task_kind_{kind}"
    return shown.words.text(key) if shown.words.knows(key) else kind.replace("_", " ")


def _pretty(answer: Any) -> str:
    return json.dumps(answer, ensure_ascii=False, indent=2)[:MOST_JSON] if answer is not None else ""
