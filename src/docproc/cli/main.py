"""`docproc`: the command line's root, and the way errors reach people."""

from __future__ import annotations

import sys

import typer
from rich.markup import escape

from docproc import __version__
from docproc.cli import database, deadletters, request, worker, workflow
from docproc.cli.output import errors
from docproc.errors import DocProcError

app = typer.Typer(
    name="docproc",
    help="Files in, checked and structured answers out, before a deadline.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
app.add_typer(request.app, name="request")
app.add_typer(workflow.app, name="workflow")
app.add_typer(database.app, name="db")
app.add_typer(deadletters.app, name="deadletters")
app.command("worker")(worker.worker)


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Say the version"
    ),
) -> None:
    pass


def main() -> None:
    try:
        app()
    except DocProcError as error:
        errors.print(f"[bold red]error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
