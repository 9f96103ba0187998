"""`docproc deadletters`: look at what could not be handled, send it again or set it aside."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
import typer
from rich.markup import escape
from rich.table import Column, Table

from docproc.app import App, open_client, open_database
from docproc.engine.running import dead_letters
from docproc.engine.store.tables import DeadLetter
from docproc.errors import DocProcError, PermanentError, UsageError
from docproc.terminal.options import TenantOption
from docproc.terminal.output import console, load_settings, print_json, run_async

app = typer.Typer(help="Messages that could not be handled.", no_args_is_help=True)

AsJson = typer.Option(False, "--json", help="Machine-readable output")


@app.command("list")
def list_letters(
    everything: bool = typer.Option(False, "--all", help="Also those already replayed or discarded"),
    tenant: str = TenantOption,
    as_json: bool = AsJson,
) -> None:
    """List dead letters, oldest first."""
    letters = run_async(_letters(everything, tenant))
    if as_json:
        return print_json([_summary(letter) for letter in letters])
    if not letters:
        return console.print("There are no dead letters.")
    whole = Column("id", no_wrap=True, min_width=36)  # a cut id cannot be given to `show`
    table = Table(whole, "when", "stage", "unit", "tries", "reason", box=None, header_style="bold")
    for letter in letters:
        when = letter.created_at.strftime("%Y-%m-%d %H:%M:%S")
        tries = str(letter.attempts)
        table.add_row(str(letter.id), when, letter.stage, letter.unit_key, tries, escape(letter.reason))
    console.print(table)
    console.print("[dim]docproc deadletters show|replay|discard ID[/]")


@app.command()
def show(letter_id: UUID, as_json: bool = AsJson) -> None:
    """Show one dead letter whole: message, reason and every failed attempt."""
    letter = next((one for one in run_async(_letters(True)) if one.id == letter_id), None)
    if letter is None:
        raise PermanentError(f"there is no dead letter {letter_id}", remedy="See docproc deadletters list")
    detail = {**_summary(letter), "history": letter.history, "body": letter.body.decode(errors="replace")}
    if as_json:
        return print_json(detail)
    for name, value in detail.items():
        text = orjson.dumps(value).decode() if isinstance(value, list) else str(value)
        console.print(f"[bold]{name}[/]: {escape(text)}", highlight=False, soft_wrap=True)


@app.command()
def replay(
    letter_ids: list[UUID] = typer.Argument(None),
    everything: bool = typer.Option(False, "--all", help="Every open dead letter"),
    tenant: str = TenantOption,
    as_json: bool = AsJson,
) -> None:
    """Send dead letters again as new messages; their requests are reopened."""

    async def again(application: App, letter_id: UUID) -> dict[str, Any]:
        message_id, copies = await dead_letters.replay(application.outbox, letter_id)
        await application.relay.publish(copies)
        return {"replayed_as": message_id}

    _each(Chosen(letter_ids, everything, tenant), again, "replayed", as_json)


@app.command()
def discard(
    letter_ids: list[UUID] = typer.Argument(None),
    everything: bool = typer.Option(False, "--all", help="Every open dead letter"),
    tenant: str = TenantOption,
    as_json: bool = AsJson,
) -> None:
    """Set dead letters aside for good; they stay readable with `list --all`."""

    async def aside(application: App, letter_id: UUID) -> dict[str, Any]:
        await dead_letters.discard(application.outbox, letter_id)
        return {}

    _each(Chosen(letter_ids, everything, tenant), aside, "discarded", as_json)


async def _letters(everything: bool, tenant: str | None = None) -> list[DeadLetter]:
    async with open_database(load_settings()) as application, application.store.reading() as session:
        found = await dead_letters.listing(session, everything=everything)
    return [letter for letter in found if tenant in (None, letter.tenant_id)]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which letters: by id, or all; those of other tenants are left alone where one is named."""

    ids: list[UUID] | None
    everything: bool
    tenant: str | None

    async def found(self) -> list[UUID]:
        if self.everything:
            return [letter.id for letter in await _letters(False, self.tenant)]
        if self.tenant is None:
            return list(self.ids or [])
        mine = {letter.id for letter in await _letters(True, self.tenant)}
        if strange := [str(one) for one in self.ids or [] if one not in mine]:
            raise UsageError(
                f"{self.tenant!r} has no dead letter {', '.join(strange)}", remedy="Check the ids"
            )
        return list(self.ids or [])


def _each(
    chosen: Chosen,
    action: Callable[[App, UUID], Awaitable[dict[str, Any]]],
    done: str,
    as_json: bool,
) -> None:
    """Act on the letters named, or on all; one that fails does not stop the others."""

    async def main() -> list[dict[str, Any]]:
        wanted = await chosen.found()
        results: list[dict[str, Any]] = []
        async with open_client(load_settings()) as application:
            for letter_id in wanted:
                try:
                    results.append({"id": letter_id, "ok": True, **await action(application, letter_id)})
                except DocProcError as error:
                    results.append({"id": letter_id, "ok": False, "error": str(error)})
        return results

    if not chosen.ids and not chosen.everything:
        raise UsageError("no dead letter is named", remedy="Give ids of docproc deadletters list, or --all")
    results = run_async(main())
    if as_json:
        print_json(results)
    else:
        for result in results:
            outcome = f"[green]{done}[/]" if result["ok"] else f"[red]{escape(result['error'])}[/]"
            console.print(f"{result['id']}  {outcome}", highlight=False, soft_wrap=True)
        if not results:
            console.print("There are no dead letters.")
    raise typer.Exit(0 if all(result["ok"] for result in results) else 1)


def _summary(letter: DeadLetter) -> dict[str, Any]:
    names = (
        "id",
        "created_at",
        "tenant_id",
        "request_id",
        "message_id",
        "queue",
        "stage",
        "unit_key",
        "attempts",
    )
    return {name: getattr(letter, name) for name in names} | {
        "reason": letter.reason,
        "replayed_as": letter.replayed_as,
        "settled_at": letter.settled_at,
    }
