"""`docproc db`: bring the database's schema up to date, and say where it stands."""

from __future__ import annotations

import typer

from docproc.app import App
from docproc.cli.output import console, errors, print_json, run_async
from docproc.settings import Settings
from docproc.store import migrate, sweep

app = typer.Typer(help="The database's schema.", no_args_is_help=True)

AsJson = typer.Option(False, "--json", help="Machine-readable output")


@app.command()
def upgrade(as_json: bool = AsJson) -> None:
    """Create or update the tables; safe to repeat, and while workers run."""

    async def main() -> tuple[str | None, str | None]:
        application = App(Settings.load())
        before = await migrate.current(application.store)
        with errors.status("Updating the database …"):
            await migrate.upgrade(application.store)
        after = await migrate.current(application.store)
        await application.close()
        return before, after

    before, after = run_async(main())
    if as_json:
        return print_json({"before": before, "after": after})
    changed = "already up to date" if before == after else f"updated from {before or 'nothing'}"
    console.print(f"The database is at version {after} ({changed}).")


@app.command()
def current(as_json: bool = AsJson) -> None:
    """Say which version the database has, and which this program wants."""

    async def main() -> str | None:
        application = App(Settings.load())
        found = await migrate.current(application.store)
        await application.close()
        return found

    found, wanted = run_async(main()), migrate.head()
    if as_json:
        return print_json({"current": found, "wanted": wanted})
    note = "" if found == wanted else " Run: docproc db upgrade"
    console.print(f"The database is at version {found or 'none'}, this program wants {wanted}.{note}")


@app.command("sweep")
def sweep_rows(
    days: float = typer.Option(None, help="Keep this many days (default DOCPROC_RETENTION_DAYS)"),
    as_json: bool = AsJson,
) -> None:
    """Remove engine rows (events, counts) of requests that ended long ago; results stay."""

    async def main() -> int:
        settings = Settings.load()
        application = App(settings)
        with errors.status("Sweeping …"):
            swept = await sweep.sweep(application.store, days or settings.retention_days)
        await application.close()
        return swept

    swept = run_async(main())
    if as_json:
        return print_json({"requests": swept})
    console.print(f"Engine rows of {swept} requests removed.")
