"""`docproc workflow`: check, list, show and draw workflow files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.markup import escape
from rich.syntax import Syntax
from rich.table import Table

from docproc.app import App
from docproc.engine.workflow import graph as drawing
from docproc.engine.workflow.loader import WorkflowLoader
from docproc.engine.workflow.plan import Plan
from docproc.errors import WorkflowError
from docproc.settings import Settings
from docproc.terminal.output import console, print_json

app = typer.Typer(help="Check, list, show and draw workflow files.", no_args_is_help=True)

Tenant = typer.Option(None, "--tenant", help="As this tenant has them: its own go before the common ones")
AsJson = typer.Option(False, "--json", help="Machine-readable output")


def _loader(tenant: str | None) -> WorkflowLoader:
    loader = App(Settings.load()).loader
    return loader.of(tenant) if tenant else loader


def _plan(loader: WorkflowLoader, name_or_file: str) -> Plan:
    path = Path(name_or_file)
    return loader.compile(path) if path.suffix in (".yaml", ".yml") else loader.plan(name_or_file)


@app.command()
def check(
    names: list[str] = typer.Argument(None, help="Names or files; all workflows by default"),
    tenant: str = Tenant,
    as_json: bool = AsJson,
) -> None:
    """Say whether workflow files can work; exit 1 and name file, line and remedy when one cannot."""
    loader = _loader(tenant)
    results = []
    for name in names or loader.names():
        try:
            plan = _plan(loader, name)
            results.append({"workflow": name, "ok": True, "version": plan.version})
        except WorkflowError as error:
            results.append({"workflow": name, "ok": False, "error": str(error)})
    if as_json:
        print_json(results)
    else:
        for result in results:
            mark = "[green]✓[/]" if result["ok"] else "[red]✗[/]"
            detail = result.get("version") or result.get("error")
            line = f"{mark} {escape(str(result['workflow']))}  [dim]{escape(str(detail))}[/]"
            console.print(line, highlight=False, soft_wrap=True)
        if not results:
            console.print(f"There are no workflows in {loader.directory}")
    raise typer.Exit(0 if all(result["ok"] for result in results) else 1)


@app.command("list")
def list_workflows(tenant: str = Tenant, as_json: bool = AsJson) -> None:
    """List all workflows."""
    loader = _loader(tenant)
    found: list[dict[str, Any]] = []
    for name in loader.names():
        try:
            plan = loader.plan(name)
            flow = plan.workflow
            found.append(
                {
                    "name": name,
                    "version": plan.version,
                    "stages": len(flow.stages),
                    "deadline_seconds": flow.sla.deadline_seconds if flow.sla else None,
                    "description": flow.description,
                }
            )
        except WorkflowError as error:
            found.append({"name": name, "version": None, "error": str(error)})
    if as_json:
        return print_json(found)
    table = Table("name", "version", "stages", "deadline", "description", box=None, header_style="bold")
    for row in found:
        deadline = f"{row['deadline_seconds']:g} s" if row.get("deadline_seconds") else "–"
        about = f"[red]{escape(row['error'])}[/]" if row.get("error") else escape(row.get("description", ""))
        table.add_row(row["name"], row["version"] or "✗", str(row.get("stages", "–")), deadline, about)
    console.print(table if found else f"There are no workflows in {loader.directory}")


@app.command()
def show(name: str, tenant: str = Tenant, as_json: bool = AsJson) -> None:
    """Show one workflow's file, or as JSON with all defaults filled in."""
    loader = _loader(tenant)
    plan = _plan(loader, name)
    if as_json:
        # `version` is the content's address, as in `list`; the file's own number would hide it.
        return print_json({**plan.workflow.model_dump(mode="json"), "version": plan.version})
    path = Path(name) if name.endswith((".yaml", ".yml")) else loader.path(name)
    text = path.read_text(encoding="utf-8")
    if not console.is_terminal:  # the file as it is, fit for another command
        return print(text, end="")
    console.print(f"[dim]{escape(str(path))} · version {plan.version}[/]")
    console.print(Syntax(text, "yaml", background_color="default"))


@app.command()
def graph(
    name: str,
    mermaid: bool = typer.Option(False, "--mermaid", help="Mermaid instead of a tree"),
    tenant: str = Tenant,
) -> None:
    """Draw one workflow: a tree for the terminal, or Mermaid for documents."""
    plan = _plan(_loader(tenant), name)
    if mermaid:
        print(drawing.mermaid(plan), end="")
    else:
        console.print(drawing.tree(plan))
