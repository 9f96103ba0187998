"""`docproc alerts`: what fires, by which rules, and what was measured."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import typer
from rich.markup import escape
from rich.table import Table

from docproc.alerts import history, store, views, wording
from docproc.alerts.collected import collect
from docproc.alerts.metric_names import name_of
from docproc.alerts.prometheus_rules import as_yaml
from docproc.alerts.rules import Level
from docproc.app import App, open_database
from docproc.engine.message import utc_now
from docproc.errors import UsageError
from docproc.terminal.output import console, load_settings, print_json, run_async

app = typer.Typer(help="Alerts: what fires, by which rules, and what was measured.", no_args_is_help=True)

AsJson = typer.Option(False, "--json", help="Machine-readable output")


@app.command("list")
def list_alerts(
    everything: bool = typer.Option(False, "--all", help="Also those that are over"),
    level: str = typer.Option(None, "--level", help="critical, high, medium or low"),
    limit: int = typer.Option(50, "--limit", min=1, help="So many at most"),
    as_json: bool = AsJson,
) -> None:
    """List the alerts that are open, newest first."""
    if level is not None and level not in list(Level):
        raise UsageError(f"{level} is no level", remedy=f"Use {', '.join(Level)}")
    wanted = Level(level) if level else None

    async def main() -> list[dict[str, Any]]:
        async with open_database(load_settings()) as application, application.store.reading() as session:
            found = await store.listed(session, level=wanted, is_open=not everything, limit=limit)
            return [wording.of(one) for one in found]

    found = run_async(main())
    if as_json:
        return print_json(found)
    if not found:
        return console.print("There are no alerts.")
    table = Table("level", "rule", "where", "value", "since (UTC)", "until", "action", box=None)
    for one in found:
        table.add_row(
            one["level"],
            one["rule"],
            escape(", ".join(f"{name} {value}" for name, value in one["labels"].items())),
            f"{one['metric']} = {one['latest']:g}",
            one["fired_at"][:19],
            (one["resolved_at"] or "–")[:19],
            f"{one['action']} ({one['action_state']})" if one["action"] else "–",
        )
    console.print(table)


@app.command()
def rules(
    as_json: bool = AsJson,
    for_prometheus: bool = typer.Option(False, "--prometheus", help="As a file of rules for Prometheus"),
) -> None:
    """List the rules as they are in use, the gravest first."""
    if for_prometheus:
        return typer.echo(run_async(_rules_for_prometheus()), nl=False)

    async def main() -> list[dict[str, Any]]:
        application = App(load_settings())
        try:
            return [
                {
                    "name": rule.name,
                    "level": str(rule.level),
                    "metric": rule.metric,
                    "by": list(rule.by),
                    "condition": type(rule.condition).__name__.lower(),
                    "threshold": None if rule.condition.needs_past else rule.condition.limit(None),
                    "action": rule.action or None,
                }
                for rule in sorted(collect(application).rules, key=lambda one: one.level.rank)
            ]
        finally:
            await application.close()

    found = run_async(main())
    if as_json:
        return print_json(found)
    table = Table("rule", "level", "metric", "by", "fires", "action", box=None)
    for one in found:
        limit = "" if one["threshold"] is None else f" {one['threshold']:g}"
        by = ", ".join(one["by"])
        fires = f"{one['condition']}{limit}"
        table.add_row(one["name"], one["level"], one["metric"], by, fires, one["action"] or "–")
    console.print(table)


async def _rules_for_prometheus() -> str:
    application = App(load_settings())
    try:
        return as_yaml(collect(application).rules)
    finally:
        await application.close()


@app.command()
def metrics(
    metric: str = typer.Option(None, "--metric", help="Only this one, such as queue.depth"),
    as_json: bool = AsJson,
) -> None:
    """Show the latest value of every metric."""

    async def main() -> list[dict[str, Any]]:
        now = utc_now()
        async with open_database(load_settings()) as application, application.store.reading() as session:
            found = await history.points(session, now - timedelta(minutes=5), metric=metric)
        return [
            {
                "metric": one.metric,
                "unit": name_of(one.metric).unit,
                "labels": one.labels,
                "value": one.latest,
                "at": one.latest_at.isoformat(),
            }
            for one in views.latest(found, now)
        ]

    found = run_async(main())
    if as_json:
        return print_json(found)
    if not found:
        return console.print("Nothing was measured lately. An API process measures: docproc up")
    table = Table("metric", "of", "value", "unit", "at (UTC)", box=None)
    for one in found:
        of = escape(", ".join(f"{name} {value}" for name, value in one["labels"].items()))
        table.add_row(one["metric"], of, f"{one['value']:g}", one["unit"], one["at"][:19])
    console.print(table)
