"""`docproc promote`: a workflow's next version for staging or production, if it passes its golden cases."""

from __future__ import annotations

import dataclasses
import getpass
from typing import Any

import typer
from rich.table import Table

from docproc.app import App, open_database
from docproc.capacity.quantities import share as share_of
from docproc.engine.store import environments
from docproc.engine.store.environments import Environment
from docproc.errors import UsageError
from docproc.promotion import promoting, shadowing
from docproc.promotion.shadowing import ShadowReport
from docproc.promotion.suite import CaseOutcome
from docproc.terminal.output import console, errors, load_settings, print_json, run_async


def promote(
    workflow: str = typer.Argument(help="Its name"),
    to: Environment = typer.Option(Environment.STAGING, "--to", help="The environment"),
    roll_back: bool = typer.Option(False, "--roll-back", help="Put the version before back instead"),
    shadow: str = typer.Option(None, "--shadow", help="Try the file on this share of requests; 0 ends it"),
    shadow_report: bool = typer.Option(False, "--shadow-report", help="Only compare what is on trial"),
    history: bool = typer.Option(False, "--history", help="Only show which versions the environment had"),
    as_json: bool = typer.Option(False, "--json", help="Machine-readable output"),
) -> None:
    """Run the golden cases on a workflow's next version, and promote it or say why not; exit 1 then."""
    if sum((history, roll_back, shadow is not None, shadow_report)) > 1:
        raise UsageError("these options contradict each other", remedy="Give one of them")
    if shadow is not None:
        return _begin_shadow(workflow, share_of(shadow), as_json)
    if shadow_report:
        return _show_shadow(run_async(_with_app(lambda app: shadowing.report(app, workflow))), as_json)
    if history:
        return _show_history(run_async(_with_app(lambda app: _history(app, workflow, to))), as_json)
    if roll_back:
        back = run_async(_with_app(lambda app: promoting.roll_back(app, workflow, to, by=getpass.getuser())))
        if as_json:
            return print_json({"workflow": workflow, "environment": to, "version": back})
        return console.print(f"{to} runs version {back} of {workflow} again", highlight=False)
    found = run_async(
        _with_app(lambda app: promoting.promote(app, workflow, to, by=getpass.getuser(), tell=_tell))
    )
    if as_json:
        print_json(
            {
                "workflow": workflow,
                "environment": to,
                "version": found.version,
                "live_version": found.live_version,
                "promoted": found.verdict.accepted,
                "reasons": found.verdict.reasons,
            }
        )
    else:
        word = "[green]promoted[/]" if found.verdict.accepted else "[red]refused[/]"
        console.print(f"{word}  {workflow} {found.version} to {to}", highlight=False)
        for line in found.verdict.reasons:
            console.print(f"  {line}", highlight=False, markup=False)
    raise typer.Exit(0 if found.verdict.accepted else 1)


def _begin_shadow(workflow: str, share: float, as_json: bool) -> None:
    by = getpass.getuser()
    version = run_async(_with_app(lambda app: shadowing.begin(app, workflow, share, by=by)))
    if as_json:
        return print_json({"workflow": workflow, "version": version, "share": share})
    console.print(f"version {version} of {workflow} is tried on {share:.0%} of the requests", highlight=False)


def _show_shadow(found: ShadowReport, as_json: bool) -> None:
    if as_json:
        return print_json(dataclasses.asdict(found))
    console.print(
        f"{found.version}, on {found.share:.0%} of the requests: "
        f"{found.agreed} of {found.compared} answers agree, {found.failed} failed",
        highlight=False,
    )
    for request_id, places in found.examples:
        console.print(f"  {request_id}  {places}", highlight=False, markup=False)


async def _with_app(act: Any) -> Any:
    async with open_database(load_settings()) as application:
        return await act(application)


def _tell(version: str, outcome: CaseOutcome) -> None:
    mark = "[green]✓[/]" if outcome.passed else "[red]✗[/]"
    errors.print(f"{mark} {version}: {outcome.title}", highlight=False)


async def _history(app: App, workflow: str, environment: Environment) -> list[dict[str, Any]]:
    async with app.store.reading() as session:
        found = await environments.history(session, environment, workflow)
    return [
        {
            "version": one.version,
            "kind": one.kind,
            "at": one.created_at,
            "by": one.made_by,
            "reason": one.reason,
        }
        for one in found
    ]


def _show_history(found: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        return print_json(found)
    table = Table("version", "what", "when (UTC)", "by", box=None, header_style="bold")
    for one in found:
        table.add_row(one["version"], one["kind"], f"{one['at']:%Y-%m-%d %H:%M}", one["by"])
    console.print(table if found else "Nothing was promoted there: the file decides.")
