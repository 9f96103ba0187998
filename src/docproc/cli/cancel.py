"""`docproc cancel`: end a request of a running DocProc for good."""

from __future__ import annotations

from uuid import UUID

import typer

from docproc.terminal.output import console, print_json
from docproc.terminal.server import ServerOption, connected


def cancel(
    request_id: UUID = typer.Argument(metavar="ID", help="The request's id", show_default=False),
    server: str = ServerOption,
    as_json: bool = typer.Option(False, "--json", help="Machine-readable output"),
) -> None:
    """Cancel a request: nothing more is done for it."""
    with connected(server) as there:
        answer = there.cancel(request_id)
    if as_json:
        return print_json(answer)
    console.print(f"{request_id}  [yellow]cancelled[/]", highlight=False, soft_wrap=True)
