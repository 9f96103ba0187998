"""`docproc golden`: the cases that every later version of a workflow must pass."""

from __future__ import annotations

import getpass
from typing import Any
from uuid import UUID

import typer
from rich.table import Table

from docproc.app import open_database
from docproc.promotion import cases
from docproc.terminal.output import console, load_settings, print_json, run_async

app = typer.Typer(help="Cases that every later version of a workflow must pass.", no_args_is_help=True)

AsJson = typer.Option(False, "--json", help="Machine-readable output")


@app.command()
def add(
    request: UUID = typer.Option(..., "--request", help="A request with a complete, reviewed answer"),
    title: str = typer.Option(None, "--title", help="What it is about; by default the names of its files"),
    as_json: bool = AsJson,
) -> None:
    """Vouch for a request's answer: it becomes a case, with copies of its files."""

    async def main() -> dict[str, Any]:
        async with open_database(load_settings()) as application:
            case = await cases.add(application, request, by=getpass.getuser(), title=title)
            return {"case_id": case.id, "workflow": case.workflow_name, "title": case.title}

    added = run_async(main())
    if as_json:
        return print_json(added)
    console.print(f"{added['case_id']}  [dim]{added['workflow']}: {added['title']}[/]", highlight=False)


@app.command("list")
def list_cases(
    workflow: str = typer.Argument(None, help="Only those of this workflow"), as_json: bool = AsJson
) -> None:
    """List the cases, oldest first."""

    async def main() -> list[dict[str, Any]]:
        async with open_database(load_settings()) as application:
            return [
                {
                    "case_id": case.id,
                    "workflow": case.workflow_name,
                    "title": case.title,
                    "added_at": case.created_at,
                    "by": case.made_by,
                }
                for case in await cases.cases(application, workflow)
            ]

    found = run_async(main())
    if as_json:
        return print_json(found)
    table = Table("id", "workflow", "title", "added", "by", box=None, header_style="bold")
    for one in found:
        added = f"{one['added_at']:%Y-%m-%d}"
        table.add_row(str(one["case_id"]), one["workflow"], one["title"], added, one["by"])
    console.print(table if found else "There are no cases: docproc golden add --request ID")


@app.command()
def remove(case: UUID, as_json: bool = AsJson) -> None:
    """Remove a case that is no longer right, and its files."""

    async def main() -> None:
        async with open_database(load_settings()) as application:
            await cases.remove(application, case)

    run_async(main())
    if as_json:
        return print_json({"case_id": case, "status": "removed"})
    console.print(f"{case}  [yellow]removed[/]", highlight=False)
