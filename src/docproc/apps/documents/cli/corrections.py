"""`docproc corrections`: say what is right, see what was said, take it away as labelled examples."""

from __future__ import annotations

import getpass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import typer
from rich.markup import escape
from rich.table import Table

from docproc.app import App, open_database
from docproc.apps.documents.settings import models_folder
from docproc.apps.documents.store import corrections, documents
from docproc.apps.documents.tables import Correction, Document
from docproc.engine.store.tables import Request
from docproc.errors import UnknownRequestError, UsageError
from docproc.terminal.counting import counted
from docproc.terminal.output import console, errors, load_settings, print_json, run_async

if TYPE_CHECKING:
    from docproc.apps.documents.quality.exporting import Exported

app = typer.Typer(help="What people said was right: labelled examples, and a memory.", no_args_is_help=True)

AsJson = typer.Option(False, "--json", help="Machine-readable output")
Tenant = typer.Option(None, "--tenant", help="Only of this tenant")
Since = typer.Option(
    None, "--since", formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"], help="Only from then on (UTC)"
)


def _request_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise UsageError(f"{text!r} is not a request id", remedy="docproc request list shows them") from None


@app.command()
def add(
    request_id: UUID = typer.Argument(
        metavar="REQUEST", help="The request's id", show_default=False, parser=_request_id
    ),
    field: list[str] = typer.Option(
        [], "--field", help="name=value as it is right; name= when it is not there"
    ),
    confirm: list[str] = typer.Option([], "--confirm", help="A field that was read right"),
    confirm_rest: bool = typer.Option(False, "--confirm-rest", help="All other fields were read right"),
    document: int = typer.Option(None, "--document", min=1, help="Which document, counted from 1"),
    doc_type: str = typer.Option(None, "--type", help="The document's right type"),
    new_type: bool = typer.Option(False, "--new-type", help="The type is one that is to be learnt"),
    operator: str = typer.Option(None, "--operator", help="Who says so (default: your user name)"),
    as_json: bool = AsJson,
) -> None:
    """Say what is right on a document; the next of its layout is read accordingly."""
    from docproc.apps.documents.quality import reviews  # all of understanding: only when it is needed
    from docproc.apps.documents.understanding import classify, models

    values = dict(_pair(each) for each in field)
    settings = load_settings()

    async def main() -> corrections.Review:
        async with open_database(settings) as application:
            document_row = await _document(application, request_id, document)
            verdict = reviews.Verdict(
                values,
                doc_type,
                operator=operator or _user(),
                confirmed=[name for name in confirm if name not in values],
                rest=confirm_rest,
                is_new_type=new_type,
            )
            stored = models.arrays(classify.MODEL, models_folder(settings))
            types = classify.unpacked(stored).classes
            review = await reviews.prepare(application.store, document_row.id, verdict, types)
            async with application.store.writing() as session:
                await corrections.record(session, review)
            return review

    review = run_async(main())
    for doubt in review.doubts:
        errors.print(f"[yellow]warning:[/] {escape(doubt)}", highlight=False, soft_wrap=True)
    if as_json:
        return print_json(
            {"document_id": review.of.document_id, "said": [_told(each) for each in review.said]}
        )
    for said in review.said:
        was = f"[dim]was {escape(str(said.before))}[/]" if said.changed else "[dim]as it was read[/]"
        shown = escape(str(said.value)) if said.value is not None else "[dim]not there[/]"
        console.print(f"{said.field or said.subject}: {shown}  {was}", highlight=False, soft_wrap=True)


@app.command()
def remove(
    request_ids: list[UUID] = typer.Argument(
        metavar="REQUEST...", help="The requests' ids", show_default=False, parser=_request_id
    ),
    as_json: bool = AsJson,
) -> None:
    """Forget what was said of requests' documents, and what memory learnt of it."""

    async def main() -> int:
        async with open_database(load_settings()) as application, application.store.writing() as session:
            return sum([await corrections.remove(session, each) for each in request_ids])

    removed = run_async(main())
    if as_json:
        return print_json({"removed": removed})
    console.print(f"{counted(removed, 'correction')} removed", highlight=False)


@app.command("list")
def list_corrections(since: datetime = Since, tenant: str = Tenant, as_json: bool = AsJson) -> None:
    """List what was said, oldest first."""

    async def main() -> list[Correction]:
        async with open_database(load_settings()) as application:
            return await _listing(application, since, tenant)

    corrected = run_async(main())
    if as_json:
        return print_json([_row(each) for each in corrected])
    if not corrected:
        return console.print("There are no corrections.")
    table = Table("when", "request", "type", "field", "before", "after", "by", box=None, header_style="bold")
    for each in corrected:
        when, request = each.created_at.strftime("%Y-%m-%d %H:%M"), str(each.request_id)
        name = each.field or each.subject
        texts = [escape(str(text or "")) for text in (each.value_before, each.value_after, each.operator)]
        table.add_row(when, request, each.doc_type, name, *texts)
    console.print(table)


@app.command()
def export(
    directory: Path = typer.Argument(
        metavar="DIR", file_okay=False, help="Where to write; created when missing"
    ),
    since: datetime = Since,
    tenant: str = Tenant,
    as_json: bool = AsJson,
) -> None:
    """Write the reviewed files, and what was said of them as `labels.jsonl`."""

    from docproc.apps.documents.quality import exporting

    async def main() -> Exported:
        async with open_database(load_settings()) as application:
            rows = await _listing(application, since, tenant)
            return await exporting.export(rows, application.blobs, directory)

    done = run_async(main())
    if as_json:
        return print_json(
            {"files": done.files, "documents": done.documents, "fields": done.fields, "missing": done.missing}
        )
    told = ((done.files, "file"), (done.documents, "document"), (done.fields, "field"))
    console.print(", ".join(counted(*each) for each in told), highlight=False)
    for name in done.missing:
        errors.print(f"[yellow]no longer stored:[/] {escape(name)}", highlight=False, soft_wrap=True)


async def _listing(application: App, since: datetime | None, tenant: str | None) -> list[Correction]:
    moment = since.replace(tzinfo=UTC) if since else None
    async with application.store.reading() as session:
        return await corrections.listing(session, tenant_id=tenant, since=moment)


async def _document(application: App, request_id: UUID, number: int | None) -> Document:
    async with application.store.reading() as session:
        request = await session.get(Request, request_id)
        of_request = await documents.of_request(session, request_id)
    if request is None:
        raise UnknownRequestError(
            f"there is no request {request_id}", remedy="docproc request list shows them"
        )
    if not of_request:
        raise UsageError(f"request {request_id} has no documents", remedy="Wait for its end")
    if number is None and len(of_request) > 1:
        raise UsageError(f"the request has {len(of_request)} documents", remedy="Say which: --document 1")
    if number is not None and number > len(of_request):
        raise UsageError(f"there is no document {number}", remedy=f"The request has {len(of_request)}")
    return of_request[(number or 1) - 1]


def _pair(text: str) -> tuple[str, str | None]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(
            f"--field {text} has no {'name' if equals else 'value'}",
            remedy=f"Write --field NAME=VALUE, such as --field {name.strip() or 'total_amount'}=…",
        )
    return name.strip(), value.strip() or None


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return "cli"


def _told(said: corrections.Said) -> dict[str, Any]:
    return {
        "subject": said.subject,
        "field": said.field or None,
        "before": said.before,
        "after": said.value,
        "changed": said.changed,
    }


def _row(correction: Correction) -> dict[str, Any]:
    names = (
        *("id", "created_at", "tenant_id", "request_id", "document_id", "subject", "field", "doc_type"),
        *("value_before", "value_after", "confidence_before", "source_before", "is_changed"),
        *("page_index", "box", "operator", "page_indices"),
    )
    return {name: getattr(correction, name) for name in names}
