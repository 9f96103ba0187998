"""`docproc material`: each command is imported when it is called."""

from __future__ import annotations

import typer

from docproc.apps.materials.cli import dead_letters, run, submit, worker

app = typer.Typer(help="Materials: a PDF to a summary and a quiz.", no_args_is_help=True)
for _command in (run.run, submit.submit, worker.worker):
    app.command()(_command)
app.add_typer(dead_letters.app, name="dead-letters")
