"""`docproc db`: bring the database's schema up to date, and say where it stands."""

from __future__ import annotations

import typer

from docproc.app import App, open_database
from docproc.engine.store import migrate, sweep
from docproc.terminal.output import console, errors, load_settings, print_json, run_async

app = typer.Typer(help="The database's schema.", no_args_is_help=True)

AsJson = typer.Option(False, "--json", help="Machine-readable output")


@app.command()
def upgrade(as_json: bool = AsJson) -> None:
    """Create or update the tables; safe to repeat, and while workers run."""

    async def main() -> tuple[str | None, str | None]:
        application = App(load_settings())
        try:
            with application.reaching_database(), errors.status("Updating the database …"):
                before = await migrate.current(application.store)
                await migrate.upgrade(application.store)
                return before, await migrate.current(application.store)
        finally:
            await application.close()

    before, after = run_async(main())
    if as_json:
        return print_json({"before": before, "after": after})
    changed = "already up to date" if before == after else f"updated from {before or 'nothing'}"
    console.print(f"The database is at version {after} ({changed}).")


@app.command()
def current(as_json: bool = AsJson) -> None:
    """Say which version the database has, and which this program wants."""

    async def main() -> str | None:
        application = App(load_settings())
        try:
            with application.reaching_database():
                return await migrate.current(application.store)
        finally:
            await application.close()

    found, wanted = run_async(main()), migrate.head()
    if as_json:
        return print_json({"current": found, "wanted": wanted})
    note = "" if found == wanted else " Run: docproc db upgrade"
    console.print(f"The database is at version {found or 'none'}, this program wants {wanted}.{note}")


@app.command("sweep")
def sweep_rows(
    days: float = typer.Option(None, min=0, help="Keep this many days (default DOCPROC_RETENTION_DAYS)"),
    as_json: bool = AsJson,
) -> None:
    """Remove engine rows (events, counts) of requests that ended long ago; results stay."""

    async def main() -> int:
        settings = load_settings()
        kept = settings.retention_days if days is None else days  # 0 keeps nothing
        async with open_database(settings) as application:
            with errors.status("Sweeping …"):
                return await sweep.sweep(application.store, kept)

    swept = run_async(main())
    if as_json:
        return print_json({"requests": swept})
    console.print(f"Engine rows of {swept} requests removed.")
