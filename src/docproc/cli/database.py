"""`docproc db`: bring the database's schema up to date, and say where it stands."""

from __future__ import annotations

import typer

from docproc.app import App, open_database
from docproc.engine.store import migrate, schema_version, sweep
from docproc.terminal.output import console, errors, load_settings, print_json, run_async

app = typer.Typer(help="The database's schema.", no_args_is_help=True)

AsJson = typer.Option(False, "--json", help="Machine-readable output")


# Of the engine's schema and of each application's, by name: the engine's own is "".
Versions = dict[str, str | None]


@app.command()
def upgrade(as_json: bool = AsJson) -> None:
    """Create or update the tables of every application; safe to repeat, and while workers run."""

    async def main() -> tuple[Versions, Versions]:
        application = App(load_settings())
        try:
            with application.reaching_database(), errors.status("Updating the database …"):
                before = await _versions(application)
                await migrate.upgrade(application.store, application.applications.migrations)
                return before, await _versions(application)
        finally:
            await application.close()

    before, after = run_async(main())
    if as_json:
        applications = {name: {"before": before[name], "after": after[name]} for name in after if name}
        return print_json({"before": before[""], "after": after[""], "applications": applications})
    for name, version in after.items():
        known = before[name]
        changed = "already up to date" if known == version else f"updated from {known or 'nothing'}"
        console.print(f"{_subject(name)} at version {version} ({changed}).", highlight=False)


@app.command()
def current(as_json: bool = AsJson) -> None:
    """Say which version the database has, and which this program wants."""

    async def main() -> tuple[Versions, Versions]:
        application = App(load_settings())
        try:
            with application.reaching_database():
                branches = application.applications.migrations
                wanted = {one.application: schema_version.head(one) for one in branches}
                return await _versions(application), {"": schema_version.head(), **wanted}
        finally:
            await application.close()

    found, wanted = run_async(main())
    if as_json:
        applications = {name: {"current": found[name], "wanted": wanted[name]} for name in found if name}
        return print_json({"current": found[""], "wanted": wanted[""], "applications": applications})
    for name, version in found.items():
        note = "" if version == wanted[name] else " Run: docproc db upgrade"
        said = f"{_subject(name)} at version {version or 'none'}, this program wants {wanted[name]}.{note}"
        console.print(said, highlight=False)


async def _versions(application: App) -> Versions:
    found = {"": await schema_version.current(application.store)}
    for branch in application.applications.migrations:
        found[branch.application] = await schema_version.current(application.store, branch)
    return found


def _subject(name: str) -> str:
    return f"The tables of {name} are" if name else "The database is"


@app.command("sweep")
def sweep_rows(
    days: float = typer.Option(None, min=0, help="Keep this many days (default DOCPROC_RETENTION_DAYS)"),
    as_json: bool = AsJson,
) -> None:
    """Remove engine rows (events, counts) of requests that ended long ago; erase what `retention` says."""

    async def main() -> tuple[int, int]:
        settings = load_settings()
        kept = settings.retention_days if days is None else days  # 0 keeps nothing
        async with open_database(settings) as application:
            with errors.status("Sweeping …"):
                # First what is not to be kept at all: of that, no other rows need be looked for.
                erased = await application.erasure.sweep()
                return await sweep.sweep(application.store, kept), erased

    swept, erased = run_async(main())
    if as_json:
        return print_json({"requests": swept + erased})
    console.print(f"Engine rows of {swept} requests removed.")
    if erased:
        console.print(f"{erased} requests erased, as their workflows say.")
