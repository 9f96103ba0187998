"""`docproc keys`: with what programs say who they are, for which tenant, and what they may do."""

from __future__ import annotations

import getpass
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, TypeVar

import typer
from rich.markup import escape
from rich.table import Table
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.app import open_database
from docproc.cli.tenants import known_tenant
from docproc.engine.message import utc_now
from docproc.engine.store.tenants import DEFAULT
from docproc.errors import UsageError
from docproc.http.access import keys
from docproc.http.access.keys import Made, NewKey
from docproc.http.access.scopes import Scope
from docproc.people.store import accounts
from docproc.terminal.options import TenantOption
from docproc.terminal.output import console, load_settings, print_json, run_async

app = typer.Typer(help="Keys with which programs say who they are.", no_args_is_help=True)

AsJson = typer.Option(False, "--json", help="Machine-readable output")
Key = typer.Argument(metavar="KEY", help="Its beginning (dp_1a2b3c4d) or its id")

MOMENTS = ("created_at", "expires_at", "last_used_at")

Result = TypeVar("Result")


@app.command()
def create(
    name: str = typer.Argument(metavar="NAME", help="What uses it"),
    scope: list[str] = typer.Option(..., "--scope", help="submit, read, review or admin; may be repeated"),
    tenant: str = typer.Option(DEFAULT, "--tenant", help="Whose key it is"),
    operator: str = typer.Option(None, "--operator", help="As whom it answers tasks (scope review)"),
    expires_days: float = typer.Option(None, "--expires-days", min=0.01, help="After that it works no more"),
    as_json: bool = AsJson,
) -> None:
    """Make a key and print it, once."""
    if unknown := sorted(set(scope) - set(Scope)):
        raise UsageError(f"{', '.join(unknown)} is no scope", remedy=f"Use {', '.join(Scope)}")
    ends = utc_now() + timedelta(days=expires_days) if expires_days else None

    async def save(session: AsyncSession) -> Made:
        await known_tenant(session, tenant)
        whom = await accounts.find(session, operator) if operator else None
        return await keys.create(
            session, NewKey(name, tenant, [Scope(s) for s in scope], whom, ends), _user()
        )

    _print_once(_write(save), as_json)


@app.command("list")
def list_keys(
    tenant: str = TenantOption,
    everything: bool = typer.Option(False, "--all", help="Also those that work no more"),
    as_json: bool = AsJson,
) -> None:
    """List keys, newest first; never the keys themselves."""

    async def main() -> list[dict[str, Any]]:
        async with open_database(load_settings()) as application, application.store.reading() as session:
            return [keys.told(key, utc_now()) for key in await keys.everything(session, tenant)]

    found = [key for key in run_async(main()) if everything or key["standing"] == "active"]
    if as_json:
        return print_json(found)
    if not found:
        return console.print("There are no keys.")
    table = Table("key", "name", "tenant", "scopes", "state", "created (UTC)", "until", "last used", box=None)
    for key in found:
        table.add_row(
            key["prefix"],
            escape(key["name"]),
            key["tenant_id"],
            ", ".join(key["scopes"]),
            key["standing"],
            *(
                f"{key[at]:%Y-%m-%d %H:%M}" if key[at] else "–"
                for at in ("created_at", "expires_at", "last_used_at")
            ),
        )
    console.print(table)


@app.command()
def rotate(
    key: str = Key,
    overlap_hours: float = typer.Option(24, "--overlap-hours", min=0, help="So long the old one works on"),
    as_json: bool = AsJson,
) -> None:
    """Make a key in the place of another, and print it, once; the other works on for a while."""

    async def save(session: AsyncSession) -> Made:
        found = await keys.named(session, key)
        return await keys.rotate(session, found, _user(), utc_now(), timedelta(hours=overlap_hours))

    _print_once(_write(save), as_json)


@app.command()
def revoke(key: str = Key, as_json: bool = AsJson) -> None:
    """Have a key work no more, from now on."""

    async def save(session: AsyncSession) -> str:
        found = await keys.named(session, key)
        await keys.revoke(session, found, _user(), utc_now())
        return found.prefix

    prefix = _write(save)
    if as_json:
        return print_json({"prefix": prefix, "standing": "revoked"})
    console.print(f"{prefix} works no more.", highlight=False)


def _print_once(made: Made, as_json: bool) -> None:
    if as_json:
        return print_json({"id": made.id, "prefix": made.prefix, "key": made.secret})
    console.print(made.secret, highlight=False, soft_wrap=True)
    console.print("[dim]Keep it now: only its hash is stored.[/]")


def _write(job: Callable[[AsyncSession], Awaitable[Result]]) -> Result:
    async def main() -> Result:
        async with open_database(load_settings()) as application, application.store.writing() as session:
            return await job(session)

    return run_async(main())


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no name for this number
        return "unknown"
