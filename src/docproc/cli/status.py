"""`docproc status`: where a request of a running DocProc stands."""

from __future__ import annotations

from uuid import UUID

import typer

from docproc.terminal.output import console, print_json
from docproc.terminal.server import ServerOption, connected
from docproc.terminal.view import HAS_QUESTIONS, load_views


def status(
    request_id: UUID = typer.Argument(metavar="ID", help="The request's id", show_default=False),
    server: str = ServerOption,
    as_json: bool = typer.Option(False, "--json", help="Machine-readable output"),
) -> None:
    """Say where a request stands, and show what was found."""
    with connected(server) as there:
        found = there.status(request_id)
        asks = bool(there.detail(request_id)["open_tasks"])
    if as_json:
        return print_json(found)
    console.print(load_views().answer(str(request_id), found), highlight=False)
    if asks:
        console.print(f"  It {HAS_QUESTIONS}", style="yellow", highlight=False, soft_wrap=True)
