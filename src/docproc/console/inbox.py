"""The inbox: the home page of the console. Requests as a table: searched, filtered, worked on together."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta, tzinfo
from functools import partial
from typing import Annotated, Any
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response

from docproc.app import App
from docproc.application import Link
from docproc.console import inbox_query, saved_views
from docproc.console.inbox_query import CAP, Asked, State
from docproc.console.inbox_rows import Words, line
from docproc.engine.message import utc_now
from docproc.engine.store.search import Wanted
from docproc.http.access.caller import Caller, TheCaller
from docproc.http.access.scopes import Scope, needs
from docproc.http.console_view import ConsoleViews, console_views_of
from docproc.http.context import PLAIN_TEXT, Application
from docproc.http.looks import is_over
from docproc.http.pages import Pages, pages_of, zone_in
from docproc.http.problems import Problem
from docproc.written import Written, day_of

router = APIRouter(include_in_schema=False)

LINK = Link("inbox", "/")
# More in one file would be nobody's to read, and hold up others.
MOST_EXPORTED = 5000
# What a list is asked by; facets of applications come beside them.
_ASKED = ("q", "state", "since", "until")

Typed = Annotated[str, Query(max_length=200, pattern=PLAIN_TEXT)]
Day = Annotated[str, Query(max_length=10)]
Cursor = Annotated[str, Query(max_length=60, pattern=r"^([0-9]{1,18}|[0-9]{1,16}_[0-9a-f-]{36})?$")]


@router.get("/")
@needs(Scope.READ)
async def page(
    request: Request,
    application: Application,
    caller: TheCaller,
    q: Typed = "",
    state: State = State.ALL,
    since: Day = "",
    until: Day = "",
    cursor: Cursor = "",
) -> HTMLResponse:
    shown = Shown(request, application, caller)
    asked = shown.asked(q, state, since, until, cursor)
    intake = await shown.views.intake(application, caller, shown.written)
    return shown.pages.page(request, "inbox.html", intake=intake, **await shown.context(asked, since, until))


@router.get("/inbox/list")
@needs(Scope.READ)
async def listed(
    request: Request,
    application: Application,
    caller: TheCaller,
    q: Typed = "",
    state: State = State.ALL,
    since: Day = "",
    until: Day = "",
    cursor: Cursor = "",
) -> HTMLResponse:
    """The list alone, for a page that renews itself."""
    shown = Shown(request, application, caller)
    asked = shown.asked(q, state, since, until, cursor)
    context = await shown.context(asked, since, until)
    body = shown.pages.render("inbox_parts.html", shown.language, **{**context, "written": shown.written})
    return HTMLResponse(body)


@router.get("/inbox/export")
@needs(Scope.READ)
async def export(
    request: Request,
    application: Application,
    caller: TheCaller,
    format: Annotated[str, Query(max_length=8)],
    id: Annotated[list[UUID] | None, Query(max_length=500)] = None,
    q: Typed = "",
    state: State = State.ALL,
    since: Day = "",
    until: Day = "",
) -> Response:
    """The answers of the requests that were chosen, else of all in the list, as one file."""
    shown = Shown(request, application, caller)
    view = shown.views.exporting
    if view is None or format not in view.exports:
        raise Problem(422, "unknown_format", f"there is no export {format!r}", "Choose one of those offered")
    asked = shown.asked(q, state, since, until, "")
    async with application.store.reading() as session:
        found = await inbox_query.ids(session, asked, MOST_EXPORTED + 1) if not id else list(id)
        found = await inbox_query.mine(session, found, caller.tenant_id)
    if len(found) > MOST_EXPORTED:
        told = f"more than {MOST_EXPORTED} requests match"
        raise Problem(413, "too_many", told, "Narrow the list: by days, a type or words")
    made = await view.export(application, found, format, shown.language)
    name = f"docproc-{shown.now.astimezone(shown.zone):%Y-%m-%d}.{format}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(made.content, media_type=made.media_type, headers=headers)


class Shown:
    """The inbox for whoever looks."""

    def __init__(self, request: Request, application: App, caller: Caller) -> None:
        self.request = request
        self.application = application
        self.caller = caller
        self.pages: Pages = pages_of(request)
        self.views: ConsoleViews = console_views_of(application)
        self.language = self.pages.language_of(request, getattr(request.state, "visitor", None))
        self.zone: tzinfo = zone_in(request)
        self.written = Written(self.language, self.zone)
        self.now = utc_now()
        self.words = Words(
            partial(self.pages.texts.text, self.language), self.pages.texts.__contains__, self.written
        )

    def asked(self, q: str, state: State, since: str, until: str, cursor: str) -> Asked:
        facets = {one.name: self.request.query_params.get(one.name, "") for one in self._facets}
        known = {one.name: set(one.choices) for one in self._facets}
        wanted = Wanted(q, {name: value for name, value in facets.items() if value in known[name]})
        asked = Asked(
            self.caller.tenant_id, wanted, state, self._day(since), self._day(until, days=1), cursor
        )
        # A cursor of another kind of list, from an address that somebody changed: its first page.
        is_ours = ("_" in cursor) != asked.walks_entries
        return (
            asked
            if is_ours or not cursor
            else Asked(asked.tenant_id, wanted, state, asked.since, asked.until)
        )

    @property
    def _facets(self) -> list[Any]:
        return self.views.facets(self.written)

    def _day(self, text: str, days: int = 0) -> datetime | None:
        """When a day of the reader begins; what is no day is as if it were not said."""
        found = day_of(text)
        return (
            _begins(found + timedelta(days=days), self.zone) if found and 1970 < found.year < 9000 else None
        )

    async def context(self, asked: Asked, since: str, until: str) -> dict[str, Any]:
        today = _begins(self.now.astimezone(self.zone).date(), self.zone)
        async with self.application.store.reading() as session:
            found = await inbox_query.find(session, asked)
            counts = await inbox_query.counts(session, self.caller.tenant_id, today)
            under_way = [row.id for row in found.rows if not is_over(row.status, row.completed_at)]
            progress = await self.views.progress(session, under_way, self.written)
            saved = await saved_views.of(session, self.caller)
        said = {"q": asked.wanted.typed, "state": str(asked.state), "since": since, "until": until}
        said |= asked.wanted.facets
        return {
            "lines": [
                line(row, self.views, self.words, progress.get(row.id, ""), self.now) for row in found.rows
            ],
            "next": found.next and f"?{_query({**said, 'cursor': found.next})}",
            "is_first": not asked.cursor,
            "newest": f"?{_query(said)}",
            "columns": self.views.columns,
            "facets": self._facets,
            "said": said,
            "query": _query(said),
            "filters": _query({name: value for name, value in said.items() if name != "state"}),
            "is_narrowed": any(value for name, value in said.items() if name != "state")
            or said["state"] != State.ALL,
            "states": [(one.value, getattr(counts, one.value, 0)) for one in State],
            "counts": counts,
            "counted": self._counted,
            "saved": saved,
            "exports": self.views.exporting.exports if self.views.exporting else (),
            "may_submit": Scope.SUBMIT in self.caller.scopes,
            "may_erase": Scope.ADMIN in self.caller.scopes,
            "now": self.now,
        }

    def _counted(self, number: int) -> str:
        return f"{self.written.number(CAP)}+" if number > CAP else self.written.number(number)


def _query(said: Mapping[str, str]) -> str:
    return urlencode(
        {name: value for name, value in said.items() if value and (name, value) != ("state", "all")}
    )


def _begins(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(), zone)
