"""`docproc request`: submit work to any workflow, watch it, see what became of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import typer
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from sqlalchemy import func, select

from docproc.app import App, open_client, open_database
from docproc.engine.running.intake import Submission
from docproc.engine.store import tasks
from docproc.engine.store.requests import TERMINAL, readable_error
from docproc.engine.store.tables import Event, Message, Request
from docproc.engine.store.tenants import DEFAULT
from docproc.errors import PermanentError, UnknownRequestError, UsageError
from docproc.http.views import shapes_of, status_of, statuses_of
from docproc.settings import Settings
from docproc.terminal.options import TenantOption
from docproc.terminal.output import console, errors, load_settings, print_json, run_async

app = typer.Typer(help="Requests: work for any workflow.", no_args_is_help=True)

LOOK_SECONDS = 0.1
EXAMPLE = """Write it as --payload '{"text": "…"}'"""

AsJson = typer.Option(False, "--json", help="Machine-readable output")
Payload = typer.Option("{}", help="A JSON object for the first stage")
Tenant = typer.Option(DEFAULT, "--tenant", help="Whose request it is")
Priority = typer.Option(5, min=0, max=9, help="9 is most urgent")


@app.command()
def submit(
    workflow: str,
    payload: str = Payload,
    priority: int = Priority,
    tenant: str = Tenant,
    as_json: bool = AsJson,
) -> None:
    """Submit one request and say its id; running workers pick it up."""
    submission = Submission(
        workflow, _parsed(payload), priority=priority, channel="cli", source_component="cli", tenant_id=tenant
    )

    async def main() -> UUID:
        async with open_client(load_settings()) as application:
            return await application.intake.submit(submission)

    request_id = run_async(main())
    if as_json:
        return print_json({"request_id": request_id, "status": "received"})
    console.print(
        f"{request_id}  [dim]received; docproc request status {request_id}[/]",
        highlight=False,
        soft_wrap=True,
    )


@app.command()
def status(request_id: UUID, tenant: str = TenantOption, as_json: bool = AsJson) -> None:
    """Show a request's status, and its result or error."""

    async def main() -> dict[str, Any] | None:
        async with open_database(load_settings()) as application:
            return await _find(application, request_id, tenant)

    found = run_async(main())
    if found is None:
        raise PermanentError(
            f"there is no request {request_id}", remedy="Check the id and DOCPROC_* settings"
        )
    _report(found, as_json)


@app.command("list")
def list_requests(
    status: str = typer.Option(None, help="Only those with this status"),
    limit: int = typer.Option(20, min=1, help="At most this many, newest first"),
    tenant: str = TenantOption,
    as_json: bool = AsJson,
) -> None:
    """List requests, newest first."""

    async def main() -> list[dict[str, Any]]:
        query = select(Request).order_by(Request.created_at.desc()).limit(limit)
        if status:
            query = query.where(Request.status == status)
        if tenant:
            query = query.where(Request.tenant_id == tenant)
        async with open_database(load_settings()) as application, application.store.reading() as session:
            rows = list(await session.scalars(query))
            return list((await statuses_of(shapes_of(application), session, rows)).values())

    found = run_async(main())
    if as_json:
        return print_json(found)
    table = Table("id", "received", "workflow", "status", "error", box=None, header_style="bold")
    for request in found:
        error = escape(readable_error(request["error"])) if request["error"] else ""
        received = request["created_at"].strftime("%Y-%m-%d %H:%M:%S")
        row = (str(request["request_id"]), received, request["workflow_name"], request["status"], error)
        table.add_row(*row)
    console.print(table if found else "There are no requests.")


@app.command()
def run(
    workflow: str,
    payload: str = Payload,
    priority: int = Priority,
    tenant: str = Tenant,
    as_json: bool = AsJson,
) -> None:
    """Run one request in this process and wait for its end; exit 1 when it failed."""
    submission = Submission(
        workflow, _parsed(payload), priority=priority, channel="cli", source_component="cli", tenant_id=tenant
    )
    request = run_async(_run(load_settings(), submission, live=not as_json))
    _report(request, as_json)
    raise typer.Exit(0 if request["status"] == "completed" else 1)


@app.command()
def erase(request_id: UUID, tenant: str = TenantOption, as_json: bool = AsJson) -> None:
    """Erase a request and all it brought: files, rows, answers, tasks, what was learnt; cancelled first."""

    async def main() -> None:
        async with open_database(load_settings()) as application:
            if tenant and await _find(application, request_id, tenant) is None:
                raise UnknownRequestError(f"{tenant!r} has no request {request_id}", remedy="Check the id")
            await application.erasure.erase(request_id, "cli")

    run_async(main())
    if as_json:
        return print_json({"request_id": request_id, "status": "erased"})
    console.print(f"{request_id}  [yellow]erased[/]", highlight=False, soft_wrap=True)


def _parsed(text: str) -> dict[str, Any]:
    try:
        payload = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(f"the payload is not JSON: {error}", remedy=EXAMPLE) from error
    if not isinstance(payload, dict):
        raise UsageError("the payload is JSON, but not an object", remedy=EXAMPLE)
    return payload


def _report(request: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        return print_json(request)
    status, name = request["status"], request["workflow_name"]
    colour = {"completed": "green", "failed": "red"}.get(status, "yellow")
    console.print(f"[bold {colour}]{status}[/]  [dim]{name} {request['request_id']}[/]")
    if request["error"]:
        console.print(f"[red]{escape(readable_error(request['error']))}[/]", highlight=False, soft_wrap=True)
    if request["result"] is not None:
        console.print_json(data=request["result"])


async def _find(application: App, request_id: UUID, tenant_id: str | None = None) -> dict[str, Any] | None:
    """As `GET /status/{id}` has it; None also for another tenant's."""
    query = select(Request).where(Request.id == request_id)
    query = query.where(Request.tenant_id == tenant_id) if tenant_id else query
    async with application.store.reading() as session:
        request = await session.scalar(query)
        return await status_of(shapes_of(application), session, request) if request else None


async def _run(settings: Settings, submission: Submission, *, live: bool) -> dict[str, Any]:
    async with open_database(settings) as application:
        # Only what the flow names: others may need models, services or time it has no use for.
        stages = application.loader.of(submission.tenant_id).load(submission.workflow).stages
        worker = application.worker(sorted({stage.component for stage in stages}))
        try:
            await worker.start()
            await application.intake.submit(submission)
            return await _watch(application, submission.request_id, live=live)
        finally:
            await worker.shutdown()


async def _watch(application: App, request_id: UUID, *, live: bool) -> dict[str, Any]:
    with Live(console=errors, transient=True, auto_refresh=False) as view:
        while True:
            request = await _find(application, request_id)
            assert request is not None  # submitted by us, in this database
            waits = await _waits_for_people(application, request_id)
            if request["status"] in TERMINAL or waits:
                if waits:
                    errors.print("It waits for a person and goes on when one has answered (docproc up)")
                if live:  # what happened, stage by stage, stays to be read
                    view.stop()
                    errors.print(await _progress(application, request_id))
                return request
            if live:
                view.update(await _progress(application, request_id), refresh=True)
            await asyncio.sleep(LOOK_SECONDS)


async def _waits_for_people(application: App, request_id: UUID) -> bool:
    """Nothing is under way any more but questions."""
    mine = Message.request_id == request_id
    under_way = select(Message.id).where(mine, Message.queue.not_like(tasks.NOTICES)).limit(1)
    async with application.store.reading() as session:
        asked = await tasks.open_count(session, request_id)
        return bool(asked) and await session.scalar(under_way) is None


async def _progress(application: App, request_id: UUID) -> Table:
    query = (
        select(Event.stage, Event.outcome, func.count())
        .where(Event.request_id == request_id, Event.kind == "handled")
        .group_by(Event.stage, Event.outcome)
        .order_by(func.min(Event.id))
    )
    table = Table("stage", "outcome", "messages", box=None, header_style="dim")
    async with application.store.reading() as session:
        for stage, outcome, number in await session.execute(query):
            table.add_row(stage, outcome, str(number))
    return table
