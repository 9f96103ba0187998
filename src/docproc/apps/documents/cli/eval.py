"""`docproc eval`: how good the answers are, measured on labelled documents."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from docproc.app import App
from docproc.apps.documents.cli import scores
from docproc.engine.workflow.definition import Workflow
from docproc.errors import UsageError
from docproc.terminal.counting import Paced, counted
from docproc.terminal.output import console, errors, load_settings, print_json, run_async

if TYPE_CHECKING:  # imaging and more: imported only when they are needed
    from docproc.apps.documents.quality.evaluation import Evaluation
    from docproc.apps.documents.quality.labels import Folder


def evaluate(
    directories: list[Path] = typer.Argument(
        metavar="DIR...", help="Folders with documents and a labels.jsonl, or folders of such folders"
    ),
    as_json: bool = typer.Option(False, "--json", help="Machine-readable output"),
    wrong: bool = typer.Option(False, "--errors", help="List the wrong fields, too"),
    report: Path | None = typer.Option(
        None, "--report", dir_okay=False, help="Write a page that shows the wrong values on their pages"
    ),
    workflow: str = typer.Option(
        "default", "--workflow", help="Whose fields are asked for: a name or a file"
    ),
    keep: Path | None = typer.Option(
        None, "--keep", file_okay=False, help="Keep readings here; those kept before are used again"
    ),
    limit: int | None = typer.Option(None, "--limit", min=1, help="Only the first files of each folder"),
    jobs: int | None = typer.Option(None, "--jobs", min=1, help="Files at once"),
    engine: str | None = typer.Option(None, "--engine", help="The OCR engine"),
) -> None:
    """Measure pages, documents and fields against their labels."""
    from docproc.apps.documents.quality import labels

    if report is not None and not report.absolute().parent.is_dir():
        raise UsageError(
            f"there is no folder {report.absolute().parent}", remedy="Make it, or choose another"
        )
    folders = labels.read(directories, limit)
    measured = _evaluated(folders, workflow, keep, jobs, engine, report)
    summaries = measured.summaries()
    if as_json:
        more = scores.wrong_fields(measured) if wrong else {}
        return print_json({name: summary | more.get(name, {}) for name, summary in summaries.items()})
    for name, summary in summaries.items():
        if name != labels.ALL or len(folders) > 1:
            console.print(scores.render(name, summary), highlight=False)
    if wrong and (table := scores.render_wrong(measured.all)).row_count:
        console.print(table, highlight=False)
    if report is not None:
        console.print(f"[dim]Report: {escape(str(report))}[/]", highlight=False, soft_wrap=True)


def _evaluated(
    folders: Sequence[Folder],
    workflow: str,
    keep: Path | None,
    jobs: int | None,
    engine: str | None,
    report: Path | None,
) -> Evaluation:
    from docproc.apps.documents.quality import evaluation
    from docproc.apps.documents.quality.report import write
    from docproc.engine.running.child import Limits
    from docproc.engine.running.pools import Pools

    settings = load_settings()
    flow = _workflow(App(settings), workflow)
    how = evaluation.how_of(flow, settings, engine=engine, keep=keep)
    pools = Pools(workers=jobs or settings.processes, limits=Limits(settings.child_memory_mb))

    async def run() -> Evaluation:
        with _progress(sum(len(folder.files) for folder in folders)) as step:
            measured = await evaluation.evaluate(folders, how, pools, step)
        if report is not None:
            await write(report, measured, pools)
        return measured

    try:
        return run_async(run())
    finally:
        pools.close()


def _workflow(app: App, name: str) -> Workflow:
    path = Path(name)
    plan = app.loader.compile(path) if path.suffix in (".yaml", ".yml") else app.loader.plan(name)
    return plan.workflow


@contextmanager
def _progress(total: int) -> Iterator[Callable[[str], None]]:
    """Takes the name of each file that is done: a bar on a terminal, lines now and then elsewhere."""
    if not errors.is_terminal:
        paced = Paced(lambda text: errors.print(text, highlight=False, soft_wrap=True))
        done = itertools.count(1)
        yield lambda _name: paced(f"measuring: {next(done)} of {counted(total, 'file')}")
        return
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("[dim]{task.fields[name]}"),
    )
    with Progress(*columns, console=errors, transient=True) as bar:
        task = bar.add_task("files", total=total, name="")
        yield lambda name: bar.update(task, advance=1, name=escape(name))
