"""`docproc watch`: follow requests of a running DocProc to their ends."""

from __future__ import annotations

from uuid import UUID

import typer

from docproc.terminal.following import follow
from docproc.terminal.server import ServerOption, connected


def watch(
    request_ids: list[UUID] = typer.Argument(metavar="ID...", help="Ids of requests", show_default=False),
    server: str = ServerOption,
    as_json: bool = typer.Option(False, "--json", help="One line of JSON per request"),
) -> None:
    """Follow requests until they are over, and show what is in them; exit 1 when one failed."""
    with connected(server) as there:
        code = follow(there, request_ids, [str(one) for one in request_ids], as_json=as_json)
    raise typer.Exit(code)
