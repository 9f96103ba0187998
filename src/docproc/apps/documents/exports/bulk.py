"""The answers of many requests as one file."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select

from docproc.app import App
from docproc.apps.documents.exports.csv_file import as_csv
from docproc.apps.documents.exports.tables import Answered, tables
from docproc.apps.documents.exports.xlsx_file import as_xlsx
from docproc.apps.documents.flows import flow_of
from docproc.apps.documents.schemas import schemas_of
from docproc.engine.store.tables import Request
from docproc.http.console_view import Exported

FORMATS = ("xlsx", "csv")
CSV_TYPE = "text/csv; charset=utf-8"
XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
# So many answers are read at once; SQLite takes no more values in a statement than a thousand.
CHUNK = 200

_COLUMNS = (
    Request.id, Request.external_id, Request.result_payload, Request.workflow_name, Request.workflow_version,
    Request.tenant_id,
)  # fmt: skip


async def exported(
    application: App, request_ids: Sequence[UUID], format: str, language: str, table: str = "documents"
) -> Exported:
    """In the order of the ids; CSV holds one of the two tables (`documents`, `lines`)."""
    answers = await answered(application, request_ids)
    content = await application.pools.run_in_thread(made, answers, format, language, table)
    return Exported(content, XLSX_TYPE if format == "xlsx" else CSV_TYPE)


def made(answers: Sequence[Answered], format: str, language: str, table: str = "documents") -> bytes:
    documents, lines = tables(answers, language)
    if format == "xlsx":
        return as_xlsx(documents, lines)
    return as_csv(lines if table == "lines" else documents, language)


async def answered(application: App, request_ids: Sequence[UUID]) -> list[Answered]:
    found: dict[UUID, Answered] = {}
    for start in range(0, len(request_ids), CHUNK):
        some = request_ids[start : start + CHUNK]
        async with application.store.reading() as session:
            rows = list(await session.execute(select(*_COLUMNS).where(Request.id.in_(some))))
        for row in rows:
            if row.result_payload is not None:
                flow = await flow_of(application, row)
                schemas = schemas_of(flow) if flow else {}
                found[row.id] = Answered(row.external_id or str(row.id), row.result_payload, schemas)
    return [found[one] for one in request_ids if one in found]
