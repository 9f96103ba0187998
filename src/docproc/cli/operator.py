"""`docproc operator`: accounts of the people at the review station."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import typer
from rich.markup import escape
from rich.table import Table
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.app import App, open_database
from docproc.cli.tenants import known_tenant
from docproc.engine.store.task_tables import Operator
from docproc.engine.store.tenants import DEFAULT
from docproc.errors import UsageError
from docproc.people.store import accounts, claims, sign_ins
from docproc.people.store.accounts import Account
from docproc.terminal.options import TenantOption
from docproc.terminal.output import console, errors, load_settings, print_json, run_async

app = typer.Typer(help="Accounts of the people at the review station.", no_args_is_help=True)

AsJson = typer.Option(False, "--json", help="Machine-readable output")
Name = typer.Argument(metavar="NAME", help="The operator's user name", show_default=False)
FromStdin = typer.Option(False, "--password-stdin", help="Read the password from standard input")

LANGUAGES = ("es", "en")


@app.command()
def add(
    name: str = Name,
    role: str = typer.Option("operator", "--role", help="operator, supervisor or admin"),
    skill: list[str] = typer.Option([], "--skill", help="A task type the person can do (default: all)"),
    display_name: str = typer.Option(None, "--display-name", help="How pages call the person"),
    language: str = typer.Option(None, "--language", help="es or en (default: as the browser prefers)"),
    subject: str = typer.Option(None, "--oidc-subject", help="Who the identity provider says it is"),
    no_password: bool = typer.Option(False, "--no-password", help="Signs in with the identity provider only"),
    password_stdin: bool = FromStdin,
    tenant: str = typer.Option(DEFAULT, "--tenant", help="Whose work the operator does"),
    as_json: bool = AsJson,
) -> None:
    """Add an operator; asks for a password."""
    from docproc.people.kinds import TaskKinds
    from docproc.people.sign_in.door import is_name

    if not is_name(name):
        raise UsageError(f"{name!r} is no user name", remedy="Up to 64 characters that can be printed")
    _one_of("role", role, claims.ROLES)
    if language is not None:
        _one_of("language", language, LANGUAGES)
    skills = TaskKinds.of(App(load_settings())).skills
    if unasked := sorted(set(skill) - set(skills)):
        errors.print(
            f"[yellow]Tasks of DocProc's own never ask for {', '.join(unasked)}: {', '.join(skills)}.[/]"
        )
    hashed = None if no_password else _hash(password_stdin)
    account = Account(name, skill or skills, role, display_name, language, hashed, subject, tenant)

    async def save(session: AsyncSession) -> None:
        await known_tenant(session, tenant)
        if not await accounts.add(session, account, _user()):
            raise UsageError(
                f"{name!r} or its identity is taken", remedy="docproc operator list shows who there is"
            )

    _write(save)
    _say(as_json, name, f"{name} was added as {role}.")


@app.command()
def password(name: str = Name, password_stdin: bool = FromStdin, as_json: bool = AsJson) -> None:
    """Set an operator's password; whoever is signed in with the old one is signed out."""
    from docproc.people.sign_in import limits

    hashed = _hash(password_stdin)

    async def save(session: AsyncSession) -> None:
        operator = await accounts.find(session, name)
        await accounts.set_password(session, operator, hashed, _user())
        await sign_ins.forgive(session, limits.name_key(name))  # no need to wait with the new one

    _write(save)
    _say(as_json, name, f"The password of {name} was set; open sessions have ended.")


@app.command()
def link(
    name: str = Name,
    subject: str = typer.Argument(metavar="SUBJECT", help="Who the identity provider says it is"),
    as_json: bool = AsJson,
) -> None:
    """Let an operator sign in with the identity provider."""
    _change(name, lambda session, who: accounts.link(session, who, subject, _user()))
    _say(as_json, name, f"{name} can sign in as {subject}.")


@app.command()
def deactivate(name: str = Name, as_json: bool = AsJson) -> None:
    """Shut an operator out at once; tasks the person holds are anybody's again."""
    _change(name, lambda session, who: accounts.deactivate(session, who, _user()))
    _say(as_json, name, f"{name} was deactivated; open sessions have ended.")


@app.command()
def activate(name: str = Name, as_json: bool = AsJson) -> None:
    """Let a deactivated operator in again."""
    _change(name, lambda session, who: accounts.activate(session, who, _user()))
    _say(as_json, name, f"{name} was activated.")


@app.command("list")
def list_operators(tenant: str = TenantOption, as_json: bool = AsJson) -> None:
    """List operators, by name."""

    async def main() -> list[dict[str, Any]]:
        async with open_database(load_settings()) as application, application.store.reading() as session:
            return [_told(operator) for operator in await accounts.everybody(session, tenant)]

    found = run_async(main())
    if as_json:
        return print_json(found)
    table = Table("name", "tenant", "role", "skills", "signs in with", "active", "last seen (UTC)", box=None)
    for one in found:
        seen = one["last_seen_at"]
        table.add_row(
            escape(one["name"]),
            one["tenant_id"],
            one["role"],
            escape(", ".join(one["skills"])),
            ", ".join(one["signs_in_with"]) or "–",
            "yes" if one["active"] else "no",
            f"{seen:%Y-%m-%d %H:%M}" if seen else "–",
        )
    console.print(table)


def _told(operator: Operator) -> dict[str, Any]:
    ways = {"password": operator.password_hash, "oidc": operator.oidc_subject}
    return {
        "name": operator.username,
        "tenant_id": operator.tenant_id,
        "display_name": operator.display_name,
        "role": operator.role,
        "skills": list(operator.skills or ()),
        "language": operator.language,
        "active": operator.is_active,
        "signs_in_with": [way for way, value in ways.items() if value],
        "oidc_subject": operator.oidc_subject,
        "last_seen_at": operator.last_seen_at,
    }


def _hash(from_stdin: bool) -> str:
    from docproc.people.sign_in import passwords  # argon2 is for few commands

    if from_stdin:
        chosen = sys.stdin.readline().rstrip("\r\n")
    else:
        chosen = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    passwords.check(chosen)
    return passwords.hashed(chosen)


def _one_of(what: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(f"{value!r} is no {what}", remedy=f"Use one of: {', '.join(allowed)}")


def _change(name: str, job: Callable[[AsyncSession, Operator], Awaitable[None]]) -> None:
    async def found(session: AsyncSession) -> None:
        await job(session, await accounts.find(session, name))

    _write(found)


def _write(job: Callable[[AsyncSession], Awaitable[None]]) -> None:
    async def main() -> None:
        async with open_database(load_settings()) as application, application.store.writing() as session:
            await job(session)

    run_async(main())


def _say(as_json: bool, name: str, text: str) -> None:
    if as_json:
        return print_json({"name": name})
    console.print(escape(text), highlight=False, soft_wrap=True)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no name for this number
        return "unknown"
