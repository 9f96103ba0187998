"""`docproc tenants`: whose work is kept apart, and what is different for them."""

from __future__ import annotations

import json
from typing import Any

import typer
from pydantic import ValidationError
from rich.markup import escape
from rich.table import Table
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.app import open_database
from docproc.engine.store import tenants
from docproc.engine.store.tenants import DEFAULT
from docproc.engine.workflow.tenants import Tenant, TenantSettings, tenant_of
from docproc.errors import UnknownTenantError, UsageError
from docproc.terminal.output import console, load_settings, print_json, run_async

app = typer.Typer(help="Tenants: whose work is kept apart from others'.", no_args_is_help=True)

AsJson = typer.Option(False, "--json", help="Machine-readable output")
Id = typer.Argument(metavar="TENANT", help="Its name: small letters, digits, - and _")
Name = typer.Option(None, "--name", help="For people")
Weight = typer.Option(None, "--weight", min=0.01, max=1000, help="Its share of the work where several wait")
Settings = typer.Option(
    None,
    "--settings",
    help="A JSON object: thresholds, callback_url, retention, quotas; replaces what was said",
)


@app.command()
def create(
    tenant: str = Id,
    name: str = Name,
    weight: float = Weight,
    settings: str = Settings,
    as_json: bool = AsJson,
) -> None:
    """Add a tenant."""
    if not tenants.NAME.fullmatch(tenant):
        raise UsageError(
            f"{tenant!r} is no name of a tenant", remedy="Small letters, digits, - and _, up to 63"
        )
    values = _values(name, weight, settings)

    async def save(session: AsyncSession) -> Tenant:
        if not await tenants.add(session, tenant, **values):
            raise UsageError(
                f"there is a tenant {tenant!r}", remedy=f"Change it: docproc tenants set {tenant}"
            )
        return await known_tenant(session, tenant)

    _say(_write(save), as_json)


@app.command("set")
def change(
    tenant: str = Id,
    name: str = Name,
    weight: float = Weight,
    settings: str = Settings,
    as_json: bool = AsJson,
) -> None:
    """Change what is said; the rest stays."""
    values = _values(name, weight, settings)

    async def save(session: AsyncSession) -> Tenant:
        await known_tenant(session, tenant)
        if tenant == DEFAULT:  # it is there without a row, until something is said of it
            await tenants.add(session, tenant)
        if values:
            await tenants.change(session, tenant, **values)
        return await known_tenant(session, tenant)

    _say(_write(save), as_json)


@app.command()
def show(
    tenant: str = Id,
    callback_secret: bool = typer.Option(
        False, "--callback-secret", help="Print what its receiver verifies deliveries with, and nothing else"
    ),
    as_json: bool = AsJson,
) -> None:
    """Show a tenant."""
    found = _write(lambda session: known_tenant(session, tenant))
    if callback_secret:
        from docproc.http.callbacks.secret import secret_of

        return console.print(secret_of(load_settings(), tenant), highlight=False, soft_wrap=True)
    _say(found, as_json)


@app.command("list")
def list_tenants(as_json: bool = AsJson) -> None:
    """List tenants, by name."""

    async def main() -> list[Tenant]:
        async with open_database(load_settings()) as application, application.store.reading() as session:
            return [await known_tenant(session, name) for name in await tenants.names(session)]

    found = run_async(main())
    if as_json:
        return print_json([_told(one) for one in found])
    table = Table("tenant", "name", "weight", "active", "settings", box=None)
    for one in found:
        said = one.settings.model_dump_json(exclude_defaults=True)
        active = "yes" if one.is_active else "no"
        table.add_row(one.id, escape(one.display_name or "–"), f"{one.weight:g}", active, escape(said))
    console.print(table)


@app.command()
def deactivate(tenant: str = Id, as_json: bool = AsJson) -> None:
    """Let nobody in for it any more: keys, tokens and new requests are refused; what it has stays."""
    _switch(tenant, False, as_json)


@app.command()
def activate(tenant: str = Id, as_json: bool = AsJson) -> None:
    """Let its people and programs in again."""
    _switch(tenant, True, as_json)


def _switch(tenant: str, is_active: bool, as_json: bool) -> None:
    async def save(session: AsyncSession) -> Tenant:
        await known_tenant(session, tenant)
        if tenant == DEFAULT:
            await tenants.add(session, tenant)
        await tenants.change(session, tenant, is_active=is_active)
        return await known_tenant(session, tenant)

    _say(_write(save), as_json)


async def known_tenant(session: AsyncSession, tenant_id: str) -> Tenant:
    """Raises UnknownTenantError."""
    row = await tenants.find(session, tenant_id)
    if row is None and tenant_id != DEFAULT:
        raise UnknownTenantError(
            f"there is no tenant {tenant_id!r}", remedy="docproc tenants list shows them"
        )
    return tenant_of(row) if row else Tenant(DEFAULT)


def _values(name: str | None, weight: float | None, settings: str | None) -> dict[str, Any]:
    said: dict[str, Any] = {"display_name": name, "weight": weight}
    if settings is not None:
        said["settings"] = _checked(settings).model_dump(mode="json", exclude_defaults=True)
    return {key: value for key, value in said.items() if value is not None}


def _checked(text: str) -> TenantSettings:
    try:
        return TenantSettings.model_validate(json.loads(text))
    except json.JSONDecodeError as error:
        raise UsageError(f"the settings are not JSON: {error}", remedy='Write {"quotas": {…}}') from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the settings"
        known = ", ".join(TenantSettings.model_fields)
        raise UsageError(f"{where}: {first['msg']}", remedy=f"Known: {known}") from error


def _told(tenant: Tenant) -> dict[str, Any]:
    return {
        "tenant_id": tenant.id,
        "display_name": tenant.display_name,
        "weight": tenant.weight,
        "active": tenant.is_active,
        "settings": tenant.settings.model_dump(mode="json", exclude_defaults=True),
    }


def _say(tenant: Tenant, as_json: bool) -> None:
    if as_json:
        return print_json(_told(tenant))
    for name, value in _told(tenant).items():
        console.print(f"[bold]{name}[/]: {escape(str(value))}", highlight=False, soft_wrap=True)


def _write(job: Any) -> Tenant:
    async def main() -> Tenant:
        async with open_database(load_settings()) as application, application.store.writing() as session:
            found: Tenant = await job(session)
            return found

    return run_async(main())
