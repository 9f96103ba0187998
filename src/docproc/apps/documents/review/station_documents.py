"""A supervisor corrects a document of a finished request on the same page where its fields would be asked."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Header, Path, Query, Request
from fastapi.responses import Response

from docproc.apps.documents.http.page_images import LARGEST_WIDTH, Wanted, picture
from docproc.apps.documents.review import checking, grouping, viewing
from docproc.apps.documents.review.amending import Amending, question
from docproc.apps.documents.review.kinds import TYPE, extraction
from docproc.apps.documents.schemas import schemas_of
from docproc.apps.documents.tables import Document
from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.errors import NotAllowedError
from docproc.http.bodies import LARGE_BYTES, takes
from docproc.people.desk import Desk
from docproc.people.kinds import Sitting, asked
from docproc.people.station import pages
from docproc.people.station.context import Application, DeskOf, Said
from docproc.people.station.routes.supervising import Chief, SupervisorRoute
from docproc.people.station.routes.work import COMMON, SCRIPT_TEXTS
from docproc.people.station.telling import Telling
from docproc.people.texts import raw

router = APIRouter(
    prefix="/supervisor/requests/{request_id}/documents/{document_id}",
    route_class=SupervisorRoute,
    include_in_schema=False,
)

RequestId = Annotated[UUID, Path()]
DocumentId = Annotated[UUID, Path()]
PageNumber = Annotated[int, Path(ge=0, le=1_000_000)]


@router.get("")
async def document_page(
    request: Request, desk: DeskOf, request_id: RequestId, document_id: DocumentId, operator: Chief
) -> Response:
    language = pages.language_of(request, operator)
    sitting, _ = await _sitting(desk, request_id, document_id, operator, language)
    async with desk.store.reading() as session:
        shown = await extraction.shown(session, sitting)
    telling = Telling.of(request, language)
    words = {key: raw(language, key) for key in SCRIPT_TEXTS}
    who = "" if getattr(request.state, "csrf", "") else f"&operator={operator.username}"
    common: dict[str, Any] = {
        **COMMON,
        "task": sitting.task,
        "asked": asked(sitting.task),
        "label": telling.label,
        "said": telling.said,
        "base": f"/supervisor/requests/{request_id}/documents/{document_id}",
        "back": f"/supervisor/requests/{request_id}?done=1{who}",
        "is_correction": True,
        "texts": {**words, **shown.script_texts},
    }
    return pages.page(request, shown.template, operator, **{**common, **shown.context})


@router.post("/check")
@takes(LARGE_BYTES)
async def check_fields(
    request: Request,
    desk: DeskOf,
    request_id: RequestId,
    document_id: DocumentId,
    operator: Chief,
    said: Said,
) -> dict[str, Any]:
    """What is wrong or odd so far; nothing is stored."""
    language = pages.language_of(request, operator)
    sitting, document = await _sitting(desk, request_id, document_id, operator, language)
    schema = schemas_of(sitting.flow).get(document.doc_type or "")
    values = said.get("values")
    found = checking.check(
        sitting.task, values if isinstance(values, dict) else {}, schema.rules if schema else (), language
    )
    return checking.as_json(found)


@router.post("/submit")
@takes(LARGE_BYTES)
async def submit(
    desk: DeskOf, request_id: RequestId, document_id: DocumentId, operator: Chief, said: Said
) -> dict[str, str]:
    """Fields, or another type; the answer of the request is amended."""
    amending = Amending(desk.application)
    if said.get(TYPE) is not None:
        opened = await amending.open(request_id, operator.tenant_id)
        first = int(opened.document(document_id).page_indices[0])
        await amending.regroup(request_id, grouping.Said(types={first: str(said[TYPE])}), operator)
    else:
        given = said.get("extracted_data")
        await amending.fields(request_id, document_id, given if isinstance(given, dict) else {}, operator)
    return {"status": "amended"}


@router.get("/pages/{number}.png")
async def page_picture(
    application: Application,
    desk: DeskOf,
    request_id: RequestId,
    document_id: DocumentId,
    number: PageNumber,
    operator: Chief,
    width: Annotated[int, Query(ge=16, le=LARGEST_WIDTH)] = 1400,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    await _check_page(desk, request_id, document_id, operator, number)
    wanted = Wanted(f"operator {operator.username}", request_id, number, width)
    return await picture(application, wanted, if_none_match)


@router.get("/pages/{number}/words")
async def page_words(
    desk: DeskOf, request_id: RequestId, document_id: DocumentId, number: PageNumber, operator: Chief
) -> dict[str, Any]:
    await _check_page(desk, request_id, document_id, operator, number)
    async with desk.store.reading() as session:
        return {"words": await viewing.words_of(session, request_id, number)}


async def _check_page(
    desk: Desk, request_id: UUID, document_id: UUID, operator: Operator, number: int
) -> None:
    opened = await Amending(desk.application).open(request_id, operator.tenant_id)
    if number not in opened.document(document_id).page_indices:
        raise NotAllowedError("this page is not part of the document", remedy="Look at its own pages")


async def _sitting(
    desk: Desk, request_id: UUID, document_id: UUID, operator: Operator, language: str
) -> tuple[Sitting, Document]:
    """The person at a question about the document that is never stored."""
    opened = await Amending(desk.application).open(request_id, operator.tenant_id)
    document = opened.document(document_id)
    task: BackofficeTask = question(opened, document)
    return Sitting(desk.application, task, operator, language, opened.flow), document
