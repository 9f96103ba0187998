"""`docproc learn`: better answers from what people corrected, measured before they are used."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from docproc.app import App, open_database
from docproc.apps.documents.settings import models_folder
from docproc.apps.documents.store import corrections
from docproc.errors import ConfigurationError, UsageError
from docproc.terminal.counting import Paced, counted
from docproc.terminal.output import console, errors, load_settings, print_json, run_async

if TYPE_CHECKING:
    from docproc.apps.documents.quality.learning import Learnt, Trial
    from docproc.settings import Settings


def learn(
    directories: list[Path] = typer.Argument(
        None, metavar="[DIR...]", help="More labelled folders, beside what people corrected"
    ),
    golden: list[Path] = typer.Option([], "--golden", help="Labelled folder to measure on; may be repeated"),
    workflow: str = typer.Option(
        "default", "--workflow", help="Whose fields are asked for: a name or a file"
    ),
    keep: Path | None = typer.Option(
        None, "--keep", file_okay=False, help="Keep readings here; those kept before are used again"
    ),
    tenant: str = typer.Option(None, "--tenant", help="Only corrections of this tenant"),
    dry_run: bool = typer.Option(False, "--dry-run", help="Measure, and change nothing"),
    as_json: bool = typer.Option(False, "--json", help="Machine-readable output"),
) -> None:
    """Learn from corrections and labelled folders; new weights are kept only if they measure better."""
    settings = load_settings()
    if models_folder(settings) is None and not dry_run:
        raise ConfigurationError(
            "nobody said where learnt weights lie", remedy="Set DOCPROC_MODELS_PATH for all processes"
        )
    with tempfile.TemporaryDirectory(prefix="docproc-learn-") as work:
        learnt, kept = run_async(
            _learn(settings, directories or [], golden, workflow, keep, tenant, dry_run, Path(work))
        )
    if as_json:
        return print_json({**learnt.as_json(), "installed": kept})
    console.print(_render(learnt, dry_run), highlight=False)


async def _learn(
    settings: Settings,
    directories: list[Path],
    golden: list[Path],
    workflow: str,
    keep: Path | None,
    tenant: str | None,
    dry_run: bool,
    work: Path,
) -> tuple[Learnt, list[str]]:
    from docproc.apps.documents.cli.eval import _workflow
    from docproc.apps.documents.quality import evaluation, learning
    from docproc.engine.running.child import Limits

    async with open_database(settings) as app:
        folders = [*await _corrections(app, tenant, work / "corrections"), *directories]
        if not folders:
            raise UsageError(
                "there is nothing to learn from",
                remedy="Correct some documents (docproc corrections add), or name labelled folders",
            )
        flow = _workflow(app, workflow)
        how = evaluation.how_of(flow, settings, keep=keep or work / "readings")
        models = models_folder(settings)
        with _progress() as say:
            material = learning.gather(folders, golden, work)
            app.pools.limits = Limits(app.settings.child_memory_mb)  # our own training may take its time
            learner = learning.Learner(how, app.pools, work, models, say)
            learnt = await learner.learn(material, learning.known_types(models))
        if dry_run or models is None:
            return learnt, []
        return learnt, learning.install(learner.candidate, models, learnt)


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """A line that changes on a terminal; lines now and then elsewhere."""
    if not errors.is_terminal:
        paced = Paced(lambda text: errors.print(escape(text), highlight=False, soft_wrap=True))
        yield lambda text: paced(text, text.partition(":")[0])
        return
    with errors.status("gathering") as status:
        yield lambda text: status.update(escape(text))


async def _corrections(app: App, tenant: str | None, folder: Path) -> list[Path]:
    """What people said so far, as a labelled folder; none where nobody said anything."""
    from docproc.apps.documents.quality import exporting

    async with app.store.reading() as session:
        rows = await corrections.listing(session, tenant_id=tenant)
    done = await exporting.export(rows, app.blobs, folder)
    return [folder] if done.files else []


def _render(learnt: Learnt, dry_run: bool) -> Group:
    head = (
        f"Learnt from {counted(learnt.documents, 'document')}, measured on {counted(learnt.golden, 'file')}"
    )
    parts: list[Text | Table] = [Text(head)]
    if learnt.new_types:
        parts.append(Text(f"New types: {', '.join(learnt.new_types)}"))
    for trial in learnt.trials:
        parts += _trial(trial, dry_run)
    if dry_run:
        parts.append(Text("Nothing was changed (--dry-run).", style="dim"))
    return Group(*parts)


def _trial(trial: Trial, dry_run: bool) -> list[Text | Table]:
    kept = "would be kept" if dry_run else "kept"
    outcome = (kept, "green") if trial.decision.kept else ("not kept", "yellow")
    line = Text.assemble(("\n" + trial.name, "bold"), "  ", outcome, f": {trial.decision.why}")
    if not trial.figures:
        return [line]
    table = Table("figure", "before", "after", "n", box=None, header_style="dim", padding=(0, 2, 0, 0))
    for figure in trial.figures:
        style = "green" if figure.gain > 0 else "red" if figure.gain < 0 else ""
        table.add_row(figure.name, _number(figure.before), Text(_number(figure.after), style), str(figure.n))
    return [line, Text(trial.trained, style="dim"), table]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
