"""`docproc capacity`: how many workers and people a volume of documents needs, from measured stage times."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path

import typer
from rich.progress import track

from docproc.app import open_database
from docproc.apps.documents.cli import embedded
from docproc.apps.documents.cli.sources import batches
from docproc.capacity import output
from docproc.capacity.calibration import Calibration, Machine, RequestKind
from docproc.capacity.load import load_of
from docproc.capacity.measuring import measure
from docproc.capacity.picture import picture as drawn
from docproc.capacity.planning import plan, staff
from docproc.capacity.quantities import per_second, share
from docproc.errors import UsageError
from docproc.http.reception import Arrival
from docproc.settings import Settings
from docproc.terminal.output import console, errors, load_settings, print_json, run_async

app = typer.Typer(help="Plan workers and people for a volume; measure this machine.", no_args_is_help=False)

DIGITAL, SCANNED = "digital", "scanned"
FILE_NAME = "capacity.json"
DEFAULT_WORKFLOW = "default"
# Where every process does everything.
ONE_POOL = "worker processes"


@app.callback(invoke_without_command=True)
def capacity(
    context: typer.Context,
    volume: str = typer.Option(None, "--volume", help="Requests in a time: 2000/h, 3/s, 50000/d"),
    pages: float = typer.Option(4.0, "--pages", min=1, help="Pages of a request, on average"),
    deadline: float = typer.Option(30.0, "--deadline", min=0.1, help="Seconds until the answer"),
    scanned: str = typer.Option(
        "0%", "--scanned", help="The share of requests that are scans or photographs"
    ),
    asked: float = typer.Option(0.0, "--asked", min=0, help="Questions to people for each request"),
    handling: float = typer.Option(
        30.0, "--handling", min=1, help="Seconds that a person takes for a question"
    ),
    hours: float = typer.Option(8.0, "--hours", min=1, max=24, help="Hours a day in which people are there"),
    shift: float = typer.Option(8.0, "--shift", min=1, max=24, help="Hours of a shift"),
    together: bool = typer.Option(
        False, "--together", help="Every process does everything, as docproc up has it"
    ),
    calibration: Path = typer.Option(None, "--calibration", help=f"Instead of {FILE_NAME} in DOCPROC_HOME"),
    patch: Path = typer.Option(None, "--patch", dir_okay=False, help="Write `replicas` for Kustomize there"),
    picture: Path = typer.Option(
        None, "--picture", dir_okay=False, help="Draw load against lateness there (SVG)"
    ),
    as_json: bool = typer.Option(False, "--json", help="Machine-readable output"),
) -> None:
    """Say how many replicas each component needs, and what to expect; exit 1 when none are enough."""
    if context.invoked_subcommand is not None:
        return
    if volume is None:
        raise UsageError(
            "no volume was given", remedy="Say for example: docproc capacity --volume 2000/h --pages 4"
        )
    measured = Calibration.load(calibration or _path(load_settings()))
    part = share(scanned)
    load = load_of(
        measured,
        per_second=per_second(volume),
        deadline_seconds=deadline,
        units={"page": pages},
        shares={DIGITAL: 1 - part, SCANNED: part},
        one_pool=ONE_POOL if together else None,
    )
    people = None
    if asked > 0:
        people = staff(
            load.per_second, asked=asked, handling_seconds=handling, patience_seconds=deadline,
            hours=hours, shift_hours=shift,
        )  # fmt: skip
    found = plan(load, staff=people)
    if patch:
        patch.write_text(output.kustomize_patch(found), encoding="utf-8")
    if picture:
        picture.write_text(drawn(found), encoding="utf-8")
    if as_json:
        print_json(
            {**output.as_json(found), "calibration": measured.model_dump(mode="json", exclude={"kinds"})}
        )
    else:
        console.print(output.table(found))
        for line in output.sentences(found):
            console.print(line, highlight=False)
        console.print(
            f"[dim]Measured on {measured.machine.processor} at {measured.made_at:%Y-%m-%d %H:%M} UTC.[/]"
        )
    raise typer.Exit(0 if found.is_enough else 1)


@app.command()
def calibrate(
    files: list[str] = typer.Argument(
        None, metavar="[DIGITAL]...", help="Files or folders with a text layer"
    ),
    scanned: list[str] = typer.Option([], "--scanned", help="A file or folder of scans; may be given often"),
    workflow: str = typer.Option(DEFAULT_WORKFLOW, "--workflow", help="Whose stages are measured"),
    out: Path = typer.Option(None, "--out", dir_okay=False, help=f"Instead of {FILE_NAME} in DOCPROC_HOME"),
    as_json: bool = typer.Option(False, "--json", help="Machine-readable output"),
) -> None:
    """Process files one after the other on this machine, and keep how long each stage takes."""
    given = {DIGITAL: list(files or ()), SCANNED: list(scanned)}
    if not any(given.values()):
        raise UsageError("no files were given", remedy="Name documents such as yours; --scanned for scans")
    kinds = {kind: run_async(_measured(kind, names, workflow)) for kind, names in given.items() if names}
    found = Calibration(made_at=datetime.now(UTC), workflow=workflow, machine=Machine.this_one(), kinds=kinds)
    path = out or _path(load_settings())
    found.save(path)
    if as_json:
        return print_json(found.model_dump(mode="json"))
    for kind, one in kinds.items():
        for stage in one.stages:
            console.print(
                f"{kind:8} {stage.stage:28} {stage.time.seconds * 1000:8.1f} ms a {stage.unit}",
                highlight=False,
            )
    errors.print(f"[dim]kept in {path}[/]", highlight=False)


async def _measured(kind: str, files: list[str], workflow: str) -> RequestKind:
    """In a home of its own, one request at a time, so that none waits for another; the first, which loads the
    models, is repeated and not counted."""
    found = batches(files, together=False)
    arrival = Arrival(workflow=workflow, channel="capacity", review="flag", is_watched=False)
    with tempfile.TemporaryDirectory(prefix="docproc-", ignore_cleanup_errors=True) as home:
        settings = embedded.embedded_settings(Path(home))
        async with embedded.opened(settings, arrival) as engine:
            todo = (found[0], *found)
            shown = track(todo, f"{kind} files", console=errors, disable=not errors.is_terminal)
            ids = [await engine.finish(batch, arrival) for batch in shown]
        async with open_database(settings) as application, application.store.reading() as session:
            return await measure(session, application.loader.plan(workflow), ids[1:])


def _path(settings: Settings) -> Path:
    return settings.home / FILE_NAME
