"""`docproc material run`: a PDF in, a summary and a quiz out, in one command that needs nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.status import Status

from docproc.errors import UsageError
from docproc.terminal.output import console, errors, print_json, run_async
from docproc.terminal.signals import stop_on_signals

INTERRUPTED = 130
_NO_FORMATS = "none"


def run(
    file: Path = typer.Argument(help="The PDF", show_default=False),
    language: str = typer.Option(None, "--language", help="es or en (default DOCPROC_MATERIALS_LANGUAGE)"),
    title: str = typer.Option("", "--title", help="What it is called (default: the file's name)"),
    material_id: str = typer.Option(
        None, "--material-id", help="Your own id of it (default: the file's name)"
    ),
    questions: int = typer.Option(None, "--questions", min=5, max=10, help="How many questions at most"),
    author: str = typer.Option(None, "--author", help="auto, openai or extractive"),
    out: Path = typer.Option(
        None,
        "--out",
        "-o",
        file_okay=False,
        help="Where files are written (default NAME-material; none with --json)",
    ),
    formats: str = typer.Option(
        "all", "--formats", help="Of html,markdown,pdf,moodle,gift,qti,anki; all, or none"
    ),
    home: Path = typer.Option(None, "--home", file_okay=False, help="Where data lies (default DOCPROC_HOME)"),
    as_json: bool = typer.Option(False, "--json", help="The two documents as they are stored, on one line"),
) -> None:
    """Summarise a PDF and make a quiz of it, here and now; exit 1 when it failed."""
    from docproc.apps.materials.cli import embedded  # the engine and the readers
    from docproc.apps.materials.content.quiz import Quiz
    from docproc.apps.materials.content.summary import Summary
    from docproc.apps.materials.exports.export import write_all
    from docproc.apps.materials.order import Order
    from docproc.apps.materials.store import Kind

    if not file.is_file():
        raise UsageError(f"there is no file {file}", remedy="Name a PDF")
    wanted = _formats(formats)
    settings = embedded.embedded_settings(home, **_overrides(questions, author))
    try:
        order = Order(material_id=material_id or file.stem, language=language, title=title or file.stem)
    except ValueError as error:
        raise UsageError(f"--language {language}: {error}", remedy="Give two letters, such as es") from error
    try:
        with errors.status("…") as status:
            found = run_async(_process(settings, file, order, status))
    except embedded.InterruptedHere:
        errors.print("[yellow]cancelled[/]", highlight=False)
        raise typer.Exit(INTERRUPTED) from None
    except embedded.FailedError as error:
        errors.print(f"[red]{file.name}: {error}[/]", highlight=False, markup=True)
        raise typer.Exit(1) from error
    summary = Summary.model_validate(_content(found[Kind.SUMMARY], Summary))
    quiz = Quiz.model_validate(_content(found[Kind.ASSESSMENT], Quiz))
    folder = out or (None if as_json else Path(f"{file.stem}-material"))
    paths = write_all(summary, quiz, folder, file.stem, wanted) if folder else []
    if as_json:
        return print_json({"summary": found[Kind.SUMMARY], "assessment": found[Kind.ASSESSMENT]})
    from docproc.apps.materials.cli.shown import shown

    console.print(shown(summary, quiz))
    for path in paths:
        console.print(str(path), style="dim", highlight=False, soft_wrap=True, markup=False)


async def _process(settings: Any, file: Path, order: Any, status: Status) -> Any:
    from docproc.apps.materials.cli import embedded

    def told(what: str) -> None:
        status.update(f"{file.name}: {what}")

    return await embedded.process(settings, file, order, told, stop_on_signals(once=True))


def _formats(said: str) -> list[str]:
    from docproc.apps.materials.exports.export import FORMATS

    if said == "all":
        return list(FORMATS)
    names = [] if said == _NO_FORMATS else [name.strip() for name in said.split(",")]
    for name in names:
        if name not in FORMATS:
            raise UsageError(f"there is no format {name!r}", remedy=f"Choose of {', '.join(FORMATS)}")
    return names


def _overrides(questions: int | None, author: str | None) -> dict[str, Any]:
    said = {"materials_questions": questions, "materials_author": author}
    return {name: value for name, value in said.items() if value is not None}


def _content(document: dict[str, Any], model: Any) -> dict[str, Any]:
    """Without the keys of the store."""
    return {name: value for name, value in document.items() if name in model.model_fields}
