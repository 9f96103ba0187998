"""`docproc video`: each command is imported when it is called."""

from __future__ import annotations

import typer

from docproc.apps.video.cli import clean, filters, preview, run, send, serve, worker

app = typer.Typer(help="Films: filter their frames, here or on many machines.", no_args_is_help=True)
for _command in (
    run.run,
    send.send,
    serve.serve,
    worker.worker,
    preview.preview,
    clean.clean,
    filters.filters,
):
    app.command()(_command)
