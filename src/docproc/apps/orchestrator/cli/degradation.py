"""`docproc orchestrator degradation`: what is still done while services fail, and setting it by hand."""

from __future__ import annotations

import typer
from rich.markup import escape
from rich.table import Table

from docproc.errors import UsageError
from docproc.terminal.output import console, print_json
from docproc.terminal.server import ServerOption, connected

PATH = "/api/v1/degradation"
LEVELS = ("full", "reduced", "minimal")


def degradation(
    level: str = typer.Argument(
        None, metavar="[LEVEL]", help="Set the least level: full, reduced or minimal", show_default=False
    ),
    reason: str = typer.Option("", "--reason", help="Why it is set, for others to read"),
    server: str = ServerOption,
    as_json: bool = typer.Option(False, "--json", help="Machine-readable output"),
) -> None:
    """Show what is still done while services fail; with a level, set it."""
    if level is not None and level not in LEVELS:
        raise UsageError(f"{level!r} is no level", remedy=f"Use {', '.join(LEVELS)}")
    with connected(server) as there:
        state = there.get(PATH) if level is None else there.put(PATH, {"level": level, "reason": reason})
    if as_json:
        return print_json(state)
    console.print(f"level    [bold]{state['level']}[/], set by hand: {state['forced']}", highlight=False)
    console.print(f"away     {escape(', '.join(state['away']) or 'nobody')}", highlight=False)
    console.print(f"dropped  {', '.join(state['dropped']) or 'nothing'}", highlight=False)
    if not state["breakers"]:
        return
    table = Table("service", "endpoint", "criticality", "breaker", "because of", box=None)
    for one in state["breakers"]:
        table.add_row(one["service"], one["endpoint"], one["level"], one["state"], escape(one["reason"]))
    console.print(table)
