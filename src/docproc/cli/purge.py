"""`docproc purge`: erase a tenant, or the requests that speak of a person."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import typer
from rich.markup import escape
from sqlalchemy import select

import docproc.alerts.tables
import docproc.http.access.tables
import docproc.people.tables  # noqa: F401 # all of them, so that every table with rows of tenants is known
from docproc.app import App, open_database
from docproc.cli.tenants import known_tenant
from docproc.engine.store import mentions, purging
from docproc.engine.store.mentions import Person
from docproc.engine.store.tables import Request
from docproc.errors import UnknownRequestError, UsageError
from docproc.terminal.output import console, load_settings, print_json, run_async

SHOWN = 20
BY = "cli"


@dataclass(frozen=True, slots=True)
class Found:
    """What would go, or went."""

    requests: list[UUID]
    # Of a tenant: by table, what else it has.
    rows: dict[str, int]


def purge(
    tenant: str = typer.Option(
        None, "--tenant", help="Erase this tenant: requests, files, people, keys, settings"
    ),
    person: str = typer.Option(
        None,
        "--person",
        help="Erase the requests that speak of a person (a name, a number); with --tenant, its own",
    ),
    yes: bool = typer.Option(False, "--yes", help="Do it; otherwise it is only shown what would go"),
    as_json: bool = typer.Option(False, "--json", help="Machine-readable output"),
) -> None:
    """Erase a tenant, or the requests that speak of a person; shows what would go unless --yes."""
    if tenant is None and person is None:
        raise UsageError("nobody is named", remedy="Use --tenant TENANT or --person TEXT")
    whom = Person(person) if person is not None else None
    found = run_async(_purge(tenant, whom, yes))
    if as_json:
        what = {"tenant_id": tenant, "erased": yes, "requests": found.requests}
        return print_json({**what, "rows": found.rows} if whom is None else what)
    _tell(found, yes)


async def _purge(tenant: str | None, person: Person | None, yes: bool) -> Found:
    async with open_database(load_settings()) as application:
        application.applications.import_tables()
        found = await _found(application, tenant, person)
        if yes and person is None and tenant is not None:
            await _erase_tenant(application, tenant, found)
        elif yes:
            await _erase_requests(application, found.requests)
        return found


async def _found(application: App, tenant: str | None, person: Person | None) -> Found:
    async with application.store.reading(streamed=True) as session:
        if tenant is not None:
            await known_tenant(session, tenant)
        if person is not None:
            spoken = await mentions.find(session, person, tenant, application.applications.texts_of)
            return Found(sorted(spoken), {})
        mine = select(Request.id).where(Request.tenant_id == tenant).order_by(Request.created_at)
        return Found(list(await session.scalars(mine)), await purging.count(session, tenant or ""))


async def _erase_tenant(application: App, tenant: str, found: Found) -> None:
    """Requests first, each in a transaction of its own; then all else at once, and what came in meanwhile."""
    async with application.store.writing() as session:
        await purging.shut(session, tenant)
    await _each(application, found.requests)
    async with application.store.writing() as session:
        late = list(await session.scalars(select(Request.id).where(Request.tenant_id == tenant)))
    await _each(application, late)
    async with application.store.writing() as session:
        await purging.remove(session, tenant)
        await purging.note(session, tenant, "tenant", BY, len(found.requests) + len(late))
    await application.store.forget_deleted()


async def _erase_requests(application: App, requests: Collection[UUID]) -> None:
    async with application.store.writing() as session:
        for tenant, number in (await purging.whose(session, requests)).items():
            await purging.note(session, tenant, "person", BY, number)
    await _each(application, requests)


async def _each(application: App, requests: Collection[UUID]) -> None:
    for request_id in requests:
        try:
            await application.erasure.erase(request_id, BY)
        except UnknownRequestError:  # somebody else was quicker
            pass


def _tell(found: Found, yes: bool) -> None:
    said: dict[str, Any] = {"requests": len(found.requests), **found.rows}
    console.print("[yellow]Erased[/]:" if yes else "This would be erased:", highlight=False)
    for name, number in said.items():
        console.print(f"  {escape(name)}: {number}", highlight=False)
    for request_id in found.requests[:SHOWN]:
        console.print(f"  [dim]{request_id}[/]", highlight=False)
    if len(found.requests) > SHOWN:
        console.print(f"  [dim]and {len(found.requests) - SHOWN} more[/]", highlight=False)
    if not yes:
        console.print("[dim]Nothing was changed. Add --yes to do it.[/]")
