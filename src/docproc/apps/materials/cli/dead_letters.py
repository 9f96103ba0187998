"""`docproc material dead-letters`: what is in the broker's dead-letter queue, and sending it again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table

from docproc.errors import ConfigurationError, TransportError, UsageError
from docproc.settings import Settings
from docproc.terminal.output import console, load_settings, print_json, run_async

if TYPE_CHECKING:
    from docproc.apps.materials.door.broker import Arrived, Broker

app = typer.Typer(
    help="Events that failed for good, in the broker's dead-letter queue.", no_args_is_help=True
)

AsJson = typer.Option(False, "--json", help="One line of JSON for each")
_MOST = 1000


@app.command(name="list")
def list_letters(as_json: bool = AsJson) -> None:
    """Show them, oldest first; they stay where they are."""
    letters = run_async(_look(load_settings()))
    if as_json:
        for letter in letters:
            print_json(letter)
        return
    table = Table("id", "material", "code", "attempts", "failed at", "reason", box=None)
    for letter in letters:
        shown = (letter[name] for name in ("id", "material_id", "code", "attempts", "failed_at", "reason"))
        table.add_row(*(str(value) for value in shown))
    console.print(table if letters else "There are none.")


@app.command()
def replay(
    ids: list[str] = typer.Argument(None, help="As `list` shows them", show_default=False),
    everything: bool = typer.Option(False, "--all", help="All of them"),
    as_json: bool = AsJson,
) -> None:
    """Put them back into the queue; each goes on where it failed, and what was paid for is not paid again."""
    if bool(ids) == everything:
        raise UsageError("name the letters, or give --all", remedy="See docproc material dead-letters list")
    sent = run_async(_replay(load_settings(), None if everything else set(ids)))
    if missing := sorted(set(ids or ()) - {letter["id"] for letter in sent}):
        raise UsageError(f"there is no dead letter {', '.join(missing)}", remedy="See … dead-letters list")
    for letter in sent:
        if as_json:
            print_json(letter)
        else:
            console.print(f"{letter['id']}  [dim]{letter['material_id']}[/]", highlight=False)


async def _look(settings: Settings) -> list[dict[str, Any]]:
    async with _letters(settings) as (broker, letters):
        for arrived in letters:
            await broker.reject(arrived, requeue=True)
        return [_said(arrived) for arrived in letters]


async def _replay(settings: Settings, wanted: set[str] | None) -> list[dict[str, Any]]:
    from docproc.apps.materials.door.door import REPLAYED

    sent = []
    async with _letters(settings) as (broker, letters):
        for arrived in letters:
            said = _said(arrived)
            if wanted is not None and said["id"] not in wanted:
                await broker.reject(arrived, requeue=True)
                continue
            # The broker has it in the first queue before it leaves the other: between the two it is in both.
            await broker.publish(broker.queue, arrived.body, message_id=said["id"], headers={REPLAYED: "1"})
            await broker.ack(arrived)
            sent.append(said)
    return sent


@asynccontextmanager
async def _letters(settings: Settings) -> AsyncIterator[tuple[Broker, list[Arrived]]]:
    """All that are there now, held by this command until it settles them; its end gives the others back."""
    from docproc.apps.materials.door.broker import LOST, Broker
    from docproc.apps.materials.settings import MaterialsSettings

    materials = settings.section(MaterialsSettings)
    url = materials.materials_rabbitmq_url or settings.rabbitmq_url
    if url is None:
        raise ConfigurationError("no broker is set", remedy="Set DOCPROC_MATERIALS_RABBITMQ_URL")
    broker = Broker(url, materials.materials_queue, materials.materials_dead_letter_queue)
    try:
        found: list[Arrived] = []
        while len(found) < _MOST and (arrived := await broker.get(broker.dead_letter_queue)):
            found.append(arrived)
        yield broker, found
    except LOST as error:
        raise TransportError(
            f"RabbitMQ is out of reach: {error}", remedy="Check DOCPROC_MATERIALS_RABBITMQ_URL"
        ) from error
    finally:
        await asyncio.shield(broker.close())


def _said(arrived: Arrived) -> dict[str, Any]:
    from docproc.apps.materials.door.letters import HEADER

    headers = {str(name).removeprefix(HEADER): value for name, value in arrived.headers.items()}
    return {
        "id": arrived.message.header.properties.message_id or "",
        "material_id": headers.get("material-id", ""),
        "request_id": headers.get("request-id", ""),
        "code": headers.get("code", ""),
        "attempts": headers.get("attempts", 0),
        "first_failed_at": headers.get("first-failed-at", ""),
        "failed_at": headers.get("last-failed-at", ""),
        "reason": headers.get("reason", ""),
    }
