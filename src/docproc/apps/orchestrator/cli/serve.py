"""`docproc orchestrator serve`: run a service that is written with the SDK."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from docproc.application import load
from docproc.apps.orchestrator.sdk.service import Service
from docproc.errors import UsageError
from docproc.terminal.output import console


def serve(
    path: str = typer.Argument(
        ..., metavar="MODULE:NAME", help="Where the Service is, such as words:service"
    ),
) -> None:
    """Take envelopes for a service and have its functions work on them, until Ctrl-C."""
    sys.path.insert(0, str(Path.cwd()))  # where people write modules
    found = load(path if ":" in path else f"{path}:service")
    if not isinstance(found, Service):
        raise UsageError(f"{path} is no Service", remedy="Name one: docproc orchestrator serve words:service")
    console.print(f"Serving [bold]{found.name}[/]. Stop with Ctrl-C.")
    found.run()
