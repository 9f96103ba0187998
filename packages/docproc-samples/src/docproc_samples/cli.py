"""`docproc samples`: write sample documents and their labels, to try the system on."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from docproc.terminal.output import console, errors, print_json


class Language(StrEnum):
    ES = "es"
    EN = "en"
    BOTH = "both"
    # Invoices only.
    FR = "fr"
    DE = "de"
    IT = "it"
    PT = "pt"
    NL = "nl"
    CA = "ca"
    GL = "gl"
    EU = "eu"
    EUROPE = "europe"


class Form(StrEnum):
    DIGITAL = "digital"
    SCAN = "scan"
    BOTH = "both"


class Layouts(StrEnum):
    ALL = "all"
    TRAINING = "training"
    HELD_OUT = "held_out"


class Kind(StrEnum):
    INVOICE = "invoice"
    ID_CARD = "id_card"
    PAYSLIP = "payslip"
    RECEIPT = "receipt"
    CONTRACT = "contract"
    BANK_STATEMENT = "bank_statement"
    OTHER = "other"
    PACKET = "packet"
    ALL = "all"


def samples(
    directory: Path = typer.Argument(
        metavar="DIR", help="Where to write; created when missing", file_okay=False
    ),
    seed: int = typer.Option(1, "--seed", help="The same seed gives the same documents"),
    count: int = typer.Option(1, "--count", min=1, help="Files of each kind, language and form"),
    language: Language = typer.Option(
        Language.BOTH, "--language", help="Of the documents; other than es and en only invoices"
    ),
    form: Form = typer.Option(Form.BOTH, "--form", help="With a text layer, or as pictures"),
    kind: Kind = typer.Option(Kind.ALL, "--kind", help="Only one kind"),
    layouts: Layouts = typer.Option(Layouts.ALL, "--layouts", help="Those to train on, or those held out"),
    as_json: bool = typer.Option(False, "--json", help="Machine-readable output"),
) -> None:
    """Write invented Spanish and English documents, and what is on them as `labels.jsonl`."""
    from docproc_samples import drawing  # reportlab and imaging libraries: only when they are needed

    with _bar() as bar:
        task = bar.add_task("samples", total=None, name="")
        written = drawing.write(
            directory,
            seed=seed,
            count=count,
            languages=_languages(language),
            forms=("digital", "scan") if form is Form.BOTH else (form.value,),
            kinds=None if kind is Kind.ALL else (kind.value,),
            layouts=layouts.value,
            progress=lambda done, total, name: bar.update(task, completed=done, total=total, name=name),
        )
    labels = directory / drawing.LABELS_FILE
    if as_json:
        files = [str(sample.path) for sample in written]
        return print_json({"directory": str(directory), "labels": str(labels), "files": files})
    packets = [sample.path for sample in written if sample.path.name.startswith("packet")]
    example = (packets or [sample.path for sample in written])[0]
    where = escape(f"{len(written)} files in {directory}, labels in {labels}")
    line = f"{where}. Try: [bold]docproc run {escape(str(example))}[/]"
    console.print(line, highlight=False, soft_wrap=True)


def _languages(chosen: Language) -> tuple[str, ...]:
    """`europe` are all but Spanish and English."""
    own, many = (Language.ES, Language.EN), (Language.BOTH, Language.EUROPE)
    if chosen is Language.BOTH:
        return tuple(each.value for each in own)
    if chosen is Language.EUROPE:
        return tuple(each.value for each in Language if each not in (*own, *many))
    return (chosen.value,)


def _bar() -> Progress:
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("[dim]{task.fields[name]}"))
    return Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal)
