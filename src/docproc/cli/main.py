"""`docproc`: the command line's root, and the way errors reach people."""

from __future__ import annotations

import sys
from typing import Any

import typer
from rich.markup import escape
from typer.core import TyperGroup

from docproc import __version__
from docproc.apps.documents.cli import corrections, eval, learn, run, samples, submit
from docproc.cli import (
    cancel,
    database,
    deadletters,
    operator,
    request,
    status,
    up,
    watch,
    worker,
    workflow,
)
from docproc.errors import DocProcError
from docproc.terminal.output import errors


class _InOrder(TyperGroup):
    """What people come for first; Typer would list the groups first."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*(name for name in ORDER if name in self.commands), *sorted(self.commands.keys() - {*ORDER})]


ORDER = (
    *("run", "up", "submit", "status", "watch", "cancel", "samples", "eval", "learn"),
    *("corrections", "operator", "workflow", "worker", "request", "deadletters", "db"),
)

app = typer.Typer(
    name="docproc",
    cls=_InOrder,
    help="Files in, checked and structured answers out, before a deadline.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
app.command("run")(run.run)
app.command("up")(up.up)
app.command("submit")(submit.submit)
app.command("status")(status.status)
app.command("watch")(watch.watch)
app.command("cancel")(cancel.cancel)
app.command("samples")(samples.samples)
app.command("eval")(eval.evaluate)
app.command("learn")(learn.learn)
app.command("worker")(worker.worker)
app.add_typer(corrections.app, name="corrections")
app.add_typer(operator.app, name="operator")
app.add_typer(request.app, name="request")
app.add_typer(workflow.app, name="workflow")
app.add_typer(database.app, name="db")
app.add_typer(deadletters.app, name="deadletters")


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
