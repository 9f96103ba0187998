"""`docproc material submit`: send a PDF, or where it lies, to a running DocProc."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import typer

from docproc.errors import UsageError
from docproc.terminal.following import follow
from docproc.terminal.output import console, print_json
from docproc.terminal.server import ServerOption, connected


def submit(
    source: str = typer.Argument(metavar="FILE|S3-URL", help="A PDF, or s3://bucket/key", show_default=False),
    material_id: str = typer.Option(None, "--material-id", help="Your own id of it (default: the request's)"),
    language: str = typer.Option(None, "--language", help="es or en (default DOCPROC_MATERIALS_LANGUAGE)"),
    title: str = typer.Option("", "--title", help="What it is called"),
    wait: bool = typer.Option(False, "--wait", help="Follow the request to its end"),
    server: str = ServerOption,
    as_json: bool = typer.Option(False, "--json", help="One line of JSON"),
) -> None:
    """Send a material to a running DocProc and say the id of its request."""
    fields = {"material_id": material_id, "preferred_language": language, "title": title}
    said = {name: value for name, value in fields.items() if value}
    with connected(server) as there:
        if source.startswith(("s3://", "https://")):
            answer = there.post("/materials", {**said, "file_url": source})
        else:
            path = Path(source)
            if not path.is_file():
                raise UsageError(f"there is no file {source}", remedy="Name a PDF, or s3://bucket/key")
            with path.open("rb") as file:
                answer = there.send("/materials", [(path.name, file)], said)
        request_id = answer["request_id"]
        if wait:
            raise typer.Exit(follow(there, [UUID(request_id)], [source], as_json=as_json))
    if as_json:
        return print_json(answer)
    console.print(f"{request_id}  [dim]docproc watch {request_id}[/]", highlight=False, soft_wrap=True)
