"""`docproc orchestrator`: each command is imported when it is called."""

from __future__ import annotations

import typer

from docproc.apps.orchestrator.cli import degradation, demo, serve, tasks

app = typer.Typer(help="Tasks over services.", no_args_is_help=True)
for _command in (demo.demo, serve.serve, tasks.submit, tasks.show, degradation.degradation):
    app.command()(_command)
app.command("list")(tasks.list_tasks)
