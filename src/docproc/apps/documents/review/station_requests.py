"""Finished requests: found by supervisors, looked at, and corrected."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Header, Path, Query, Request
from fastapi.responses import Response

from docproc.apps.documents.http.page_images import LARGEST_WIDTH, Wanted, picture
from docproc.apps.documents.review import checking, grouping
from docproc.apps.documents.review.amending import Amending, Opened
from docproc.apps.documents.review.classification import choices
from docproc.apps.documents.schemas import types_of
from docproc.apps.documents.store import pages, supervised
from docproc.apps.documents.texts.names import field_name, type_name
from docproc.engine.store import answers, events
from docproc.engine.store.task_tables import Operator
from docproc.errors import InvalidAnswerError
from docproc.http.bodies import LARGE_BYTES, takes
from docproc.people.desk import Desk
from docproc.people.station.context import Application, DeskOf, Said
from docproc.people.station.pages import language_of
from docproc.people.station.routes import supervising
from docproc.people.station.routes.supervising import REQUEST_PAGE, Chief, SupervisorRoute, done

router = APIRouter(prefix="/supervisor/requests", route_class=SupervisorRoute, include_in_schema=False)

FOUND = 50
# Of more pages a form would be refused for its size; programs send JSON.
MOST_PAGES = 400

RequestId = Annotated[UUID, Path()]


@router.get("")
async def search(
    request: Request, desk: DeskOf, operator: Chief, q: Annotated[str, Query(max_length=255)] = ""
) -> Response:
    async with desk.store.reading() as session:
        found = await supervised.find_requests(session, operator.tenant_id, q.strip(), FOUND)
        names = {one.id: [file.name for file in await pages.files(session, one.id)] for one in found}
    return _shown(request, "documents/requests.html", operator, found=found, names=names, q=q)


@router.get("/{request_id}", name=REQUEST_PAGE)
async def one_request(request: Request, desk: DeskOf, request_id: RequestId, operator: Chief) -> Response:
    """Looking changes nothing but the record of who looked."""
    opened = await Amending(desk.application).open(request_id, operator.tenant_id)
    async with desk.store.writing() as session:
        told = {"operator": operator.username}
        note = events.Event(request_id, "view", tenant_id=operator.tenant_id, outcome="viewed", data=told)
        await events.record(session, [note])
    async with desk.store.reading() as session:
        versions = await answers.of_request(session, request_id)
        files = await pages.files(session, request_id)
    return _shown(
        request,
        "documents/request.html",
        operator,
        opened=opened,
        versions=versions,
        files={file.file_index: file.name for file in files},
        types=choices(opened.flow),
        type_name=partial(type_name, language_of(request, operator), added=types_of(opened.flow)),
        begins={one.page_indices[0]: one for one in opened.documents if one.page_indices},
        written=partial(checking.shown, language=language_of(request, operator)),
        first_of_file=grouping.first_of_files(opened.pages),
        can_regroup=opened.can_regroup and len(opened.pages) <= MOST_PAGES,
    )


def _shown(request: Request, template: str, operator: Operator, **context: Any) -> Response:
    language = language_of(request, operator)
    words: dict[str, Any] = {
        "type_name": partial(type_name, language),
        "field_name": partial(field_name, language),
    }
    return supervising.shown(request, template, operator, **{**words, **context})


@router.post("/{request_id}/documents/{document_id}/fields")
@takes(LARGE_BYTES)
async def correct_fields(
    request: Request,
    desk: DeskOf,
    request_id: RequestId,
    document_id: Annotated[UUID, Path()],
    operator: Chief,
    said: Said,
) -> Response:
    """JSON: `{"fields": {"total_amount": "12.50"}}`; a form has `field.total_amount`."""
    given = said.get("fields")
    if not isinstance(given, Mapping):
        given = {name.removeprefix("field."): v for name, v in said.items() if name.startswith("field.")}
    await Amending(desk.application).fields(request_id, document_id, given, operator)
    return done(request, operator, f"/supervisor/requests/{request_id}")


@router.post("/{request_id}/grouping")
@takes(LARGE_BYTES)
async def correct_grouping(
    request: Request, desk: DeskOf, request_id: RequestId, operator: Chief, said: Said
) -> Response:
    """JSON: `{"begins": {"3": true}, "types": {"3": "letter"}}`; a form: `page.3.begins`, `page.3.type`."""
    wanted = _of_json(said) if "form" not in said else await _of_form(desk, request_id, operator, said)
    await Amending(desk.application).regroup(request_id, wanted, operator)
    return done(request, operator, f"/supervisor/requests/{request_id}")


def _of_json(said: Mapping[str, Any]) -> grouping.Said:
    begins, types = said.get("begins") or {}, said.get("types") or {}
    try:
        places = {int(page): value for page, value in begins.items()}
        kinds = {int(page): str(value) for page, value in types.items()}
        if not all(isinstance(value, bool) for value in places.values()):
            raise ValueError
    except (AttributeError, TypeError, ValueError):
        raise InvalidAnswerError(
            "begins and types are by page",
            problems={"begins": "it is by page, true or false"},
            remedy='Send {"begins": {"3": true}, "types": {"3": "letter"}}',
        ) from None
    return grouping.Said(places, kinds)


async def _of_form(
    desk: Desk, request_id: UUID, operator: Operator, said: Mapping[str, Any]
) -> grouping.Said:
    """A box that is not ticked is not sent: every page of the request was on the form."""
    opened: Opened = await Amending(desk.application).open(request_id, operator.tenant_id)
    first = grouping.first_of_files(opened.pages)
    begins = {
        row.page_index: row.page_index in first or f"page.{row.page_index}.begins" in said
        for row in opened.pages
    }
    types = {
        int(match[1]): str(value)
        for name, value in said.items()
        if (match := re.fullmatch(r"page\.(\d{1,7})\.type", name)) and value and begins.get(int(match[1]))
    }
    return grouping.Said(begins, types)


@router.get("/{request_id}/pages/{number}.png")
async def page_picture(
    application: Application,
    desk: DeskOf,
    request_id: RequestId,
    number: Annotated[int, Path(ge=0, le=1_000_000)],
    operator: Chief,
    width: Annotated[int, Query(ge=16, le=LARGEST_WIDTH)] = 1000,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    await Amending(desk.application).open(request_id, operator.tenant_id)  # of the person's tenant, or 404
    wanted = Wanted(f"operator {operator.username}", request_id, number, width)
    return await picture(application, wanted, if_none_match)
