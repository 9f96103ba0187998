"""A request's answer to take away: JSON as it is, CSV and XLSX for accountants, one row a document."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated
from uuid import UUID

import orjson
from fastapi import APIRouter, Header, Query, Response

from docproc.apps.documents.exports import fields_csv
from docproc.apps.documents.exports.bulk import CSV_TYPE, XLSX_TYPE, exported
from docproc.engine.store import tasks
from docproc.http.access.scopes import Scope, needs
from docproc.http.context import Application, RequestId
from docproc.http.problems import Problem, documented
from docproc.http.reception import reception_of
from docproc.texts import choose_language

router = APIRouter(tags=["requests"])


class Format(StrEnum):
    JSON = "json"
    CSV = "csv"
    XLSX = "xlsx"


class Table(StrEnum):
    """What a CSV file has rows of; XLSX has a sheet for each of the first two."""

    DOCUMENTS = "documents"
    LINES = "lines"
    FIELDS = "fields"


class Language(StrEnum):
    ES = "es"
    EN = "en"


@router.get(
    "/requests/{request_id}/result",
    summary="The answer as a file",
    response_class=Response,
    responses={
        200: {
            "description": "The answer",
            "content": {
                "application/json": {"schema": {}},
                "text/csv": {"schema": {"type": "string"}},
                XLSX_TYPE: {"schema": {"type": "string", "format": "binary"}},
            },
        },
        **documented(404, 409, 422, 503),
    },
)
@needs(Scope.READ)
async def result(
    application: Application,
    request_id: RequestId,
    format: Annotated[Format, Query()] = Format.JSON,
    table: Annotated[Table, Query(description="Of CSV: what it has rows of")] = Table.DOCUMENTS,
    lang: Annotated[
        Language | None,
        Query(description="Of CSV and XLSX: words, separator, decimal sign; else as Accept-Language asks"),
    ] = None,
    accept_language: Annotated[str, Header()] = "",
) -> Response:
    """409 while there is none: `GET /status/{request_id}` says how far it is."""
    request = await reception_of(application).find(request_id)
    answer = request.result_payload
    if answer is None:
        async with application.store.reading() as session:
            questions = await tasks.open_count(session, request_id)
        waits = f", and it waits for a person (open questions: {questions})" if questions else ""
        remedy = "Somebody must answer them" if questions else "Ask again later"
        raise Problem(409, "no_result", f"there is no result yet: {request.status}{waits}", remedy)
    run = application.pools.run_in_thread
    if format is Format.JSON:
        return _file(request_id, await run(orjson.dumps, answer), format, "application/json")
    if format is Format.CSV and table is Table.FIELDS:
        return _file(request_id, await run(fields_csv.as_csv, answer), format, CSV_TYPE)
    language = choose_language(lang, accept_language)
    made = await exported(application, [request_id], format, language, table)
    return _file(request_id, made.content, format, made.media_type)


def _file(request_id: UUID, content: bytes, format: Format, media_type: str) -> Response:
    named = {"Content-Disposition": f'attachment; filename="docproc-{request_id}.{format}"'}
    return Response(content, media_type=media_type, headers=named)
